"""annotated.py - a program that uses the package nvtx, and knows nothing of dftracer. SPDX-License-Identifier: MIT"""

import multiprocessing
import sys
import threading

import nvtx


@nvtx.annotate("step", domain="solver", category="time loop", color="blue")
def step(number):
    with nvtx.annotate("exchange", domain="solver", payload=number):
        nvtx.mark("halo", domain="solver", payload=number / 2)
    with nvtx.annotate("update"):
        pass


def loop(first):
    for number in range(first, first + 10):
        step(number)


def main():
    long = nvtx.start_range("checkpoint", domain="writer")
    loop(0)
    thread = threading.Thread(target=loop, args=(10,))
    thread.start()
    thread.join()
    nvtx.end_range(long)
    domain = nvtx.get_domain("quick")
    attributes = domain.get_event_attributes(message="ready made", payload=1.5)
    for _ in range(5):
        domain.push_range(attributes)
        domain.pop_range()
    nvtx.pop_range()  # none is open
    if sys.argv[1:] == ["fork"]:
        process = multiprocessing.get_context("fork").Process(target=loop, args=(20,))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
