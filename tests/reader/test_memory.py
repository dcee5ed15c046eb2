"""A summary that runs out of memory says so and exits; its threads do not wait for a unit that never comes."""

import os
import resource
import subprocess
import sys
import tempfile

COMMAND = os.environ["DFT_TEST_COMMAND"]
MIB = 1 << 20


def summarise(folder, limit):
    def restrict():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    command = [COMMAND, "summary", "-j", "6", "--json", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, preexec_fn=restrict)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([COMMAND, "generate", "-n", "1M", folder], capture_output=True, check=True)
        for limit in range(100 * MIB, 500 * MIB, 25 * MIB):
            done = summarise(folder, limit)
            if done.returncode == 0:
                continue
            failed += 1
            assert (done.returncode, done.stdout) == (1, ""), (limit, done.returncode, done.stderr)
            assert "memory" in done.stderr, (limit, done.stderr)
    assert failed, "no limit was too small: the test has no effect"
    return 0


if __name__ == "__main__":
    sys.exit(main())
