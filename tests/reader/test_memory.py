"""A summary that runs out of memory says so and exits; its threads do not wait for a unit that never comes."""

import os
import resource
import subprocess
import sys
import tempfile

COMMAND = os.environ["DFT_TEST_COMMAND"]
MIB = 1 << 20
NOT_STARTED = 127  # not even the libraries fit


def summarise(limit, *arguments):
    """0, 1 or NOT_STARTED: how it ended."""

    def restrict():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    command = [COMMAND, "summary", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, preexec_fn=restrict)
    assert done.returncode in (0, 1, NOT_STARTED), (limit, done.returncode, done.stderr)
    if done.returncode == 1:
        assert not done.stdout and "memory" in done.stderr, (limit, done.stdout, done.stderr)
    return done.returncode


def main():
    with tempfile.TemporaryDirectory() as folder:
        many, state = os.path.join(folder, "many"), os.path.join(folder, "part.dfs")
        subprocess.run([COMMAND, "generate", "-n", "1M", f"{folder}/one"], capture_output=True, check=True)
        ends = {
            summarise(limit, "-j", "6", "--json", f"{folder}/one") for limit in range(100 * MIB, 500 * MIB, 25 * MIB)
        }
        assert 1 in ends, "no limit was too small: the test has no effect"
        subprocess.run([COMMAND, "generate", "-n", "10K", "-p", "100", many], capture_output=True, check=True)
        for words in (
            ("-j", "2", "--by", "step", many),
            ("-j", "2", "--partial", "-o", state, many),
            ("--json", state),
        ):
            ends = {summarise(limit, *words) for limit in range(15 * MIB, 45 * MIB, MIB // 2)}
            assert 0 in ends, (words, ends)
    return 0


if __name__ == "__main__":
    sys.exit(main())
