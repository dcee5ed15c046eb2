"""summary.py RESULTS...: what the tests of one run did, from the files of `ctest --output-junit`, one for each preset.

Prints counts for each preset, the names of failed tests, every skipped test with its reason, and as the very last line
`N passed, N failed, N skipped`. A preset without results is a failure. Exit status 1 on failures or when nothing ran.
If PRESET.again.xml has the results of a second try, what passed there counts as passed and is reported as flaky.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def reason(case):
    """A skipping test prints `SKIP: why`."""
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    told = [line.partition("SKIP:")[2].strip() for line in lines if line.startswith("SKIP:")]
    return (told or lines or ["no reason given"])[-1]


def read(path):
    """Passed, failed and skipped tests of a preset; the last with their reasons."""
    passed, failed, skipped = [], [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        if case.find("skipped") is not None and case.get("status") != "fail":
            skipped.append((name, reason(case)))
        elif case.get("status") == "run" and case.find("failure") is None:
            passed.append(name)
        else:
            failed.append(name)
    return passed, failed, skipped


def second_try(path, passed, failed):
    """Moves what a second try passed; its names."""
    again = Path(path).with_suffix(".again.xml")
    flaky = [name for name in read(again)[0] if name in failed] if again.exists() else []
    for name in flaky:
        failed.remove(name)
        passed.append(name)
    return flaky


def counts(passed, failed, skipped):
    return f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped"


def main(paths):
    everything = ([], [], [])
    flaky = []
    for path in paths:
        preset = Path(path).stem
        try:
            results = read(path)
            flaky += [(preset, name) for name in second_try(path, *results[:2])]
            print(f"{preset:8} {counts(*results)}")
        except (OSError, ElementTree.ParseError):
            results = ([], ["(no results)"], [])
            print(f"{preset:8} did not run")
        for all_of_kind, names in zip(everything, results):
            all_of_kind += [(preset, name) for name in names]
    passed, failed, skipped = everything
    for preset, name in failed:
        print(f"failed   {preset}: {name}")
    for preset, name in flaky:
        print(f"flaky    {preset}: {name}: failed among others, passed alone; treat it as a bug")
    for preset, (name, why) in skipped:
        print(f"skipped  {preset}: {name}: {why}")
    print(counts(passed, failed, skipped))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
