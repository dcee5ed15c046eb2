"""Programs as people wrote them for DFTracer: they build without a warning, and record what they recorded there.

clients/NAME.expected is what the same program, unchanged, recorded with DFTracer 2.2.0 (see normal.py); fork.expected
and io.expected are ours: the original loses the events of a child that does not finalise, and results of I/O calls.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests"))
import trace

import normal
import programs


def check(source, program, folder):
    expected = source.with_suffix(".expected").read_text()
    os.makedirs(f"{folder}-data", exist_ok=True)
    programs.trace(program, folder, f"{folder}-data")
    found = normal.folder(folder)
    assert found == expected, f"{source.name}:\n--- found\n{found}--- expected\n{expected}"
    assert trace.read_folder(folder)
    programs.trace(program, f"{folder}-off", f"{folder}-data", enable="0")
    assert not os.listdir(f"{folder}-off"), "it leaves files when it is off"


def main():
    with tempfile.TemporaryDirectory() as scratch:
        sources = sorted(path for path in programs.CLIENTS.iterdir() if path.suffix in (".c", ".cpp"))
        assert len(sources) >= 4
        for source in sources:
            for compiler in programs.compilers(source.suffix):
                for standard in programs.STANDARDS[source.suffix]:
                    program = Path(scratch) / f"{source.stem}-{compiler}-{standard}"
                    programs.build(compiler, source, program, f"-std={standard}")
                check(source, program, f"{program}.out")


main()
