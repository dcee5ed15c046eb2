"""page.py - the page of acknowledge.h: which calls of a recording program had returned when it died.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import collections
import mmap
import os
import struct

THREADS = 4
SLOTS = 65536
THREAD_BYTES = 128
COUNTERS = THREADS * THREAD_BYTES  # cycles, claimed
FIRST_SLOT = COUNTERS + THREAD_BYTES
PAGE_BYTES = FIRST_SLOT + SLOTS * THREAD_BYTES

Acknowledged = collections.namedtuple("Acknowledged", "tid life begun done pid")


class Page:
    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "page")
        with open(self.path, "wb") as file:
            file.truncate(PAGE_BYTES)
        os.chmod(self.path, 0o666)  # programs of other users acknowledge here too
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), PAGE_BYTES)

    def _at(self, offset: int) -> Acknowledged:
        return Acknowledged(*struct.unpack_from("5Q", self.memory, offset))

    def threads(self) -> list[Acknowledged]:
        return [self._at(i * THREAD_BYTES) for i in range(THREADS)]

    def cycles(self) -> int:
        return struct.unpack_from("Q", self.memory, COUNTERS)[0]

    def slots(self) -> dict[int, Acknowledged]:
        claimed = struct.unpack_from("Q", self.memory, COUNTERS + 8)[0]
        return {i: self._at(FIRST_SLOT + i * THREAD_BYTES) for i in range(claimed)}

    def done(self) -> dict[int, int]:
        """slot: the number of the last event whose call had returned; events are numbered from 1 on."""
        return {slot: acknowledged.done for slot, acknowledged in self.slots().items()}
