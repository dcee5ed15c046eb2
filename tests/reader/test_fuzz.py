"""The saved corpus of the fuzz targets, and what is made of it by changing bytes, is read without a crash."""

import os
import signal
import subprocess
import sys
import tempfile

import oracle

CHANGES = {"line": 150, "member": 150, "spool": 100}


def fresh_spool(folder):
    """Of this version, whatever the saved ones are of."""
    environment = dict(os.environ, DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=os.path.join(folder, "trace"))
    with subprocess.Popen(
        [oracle.program("recorder"), "20"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    inner = os.path.join(folder, ".dftracer")
    return [os.path.join(inner, name) for name in os.listdir(inner) if name.endswith(".spool")]


def main():
    with tempfile.TemporaryDirectory() as spools:
        return run(fresh_spool(spools))


def run(spools):
    corpus = os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "reader", "corpus")
    for target, changes in CHANGES.items():
        folder = os.path.join(corpus, target)
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        files += spools if target == "spool" else []
        assert files, folder
        done = subprocess.run(
            [oracle.program(f"fuzz_{target}"), str(changes), *files], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"fuzz_{target}: {done.returncode} {done.stderr}"
        print(f"passed: {len(files)} files of {target}, {changes} changes each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
