"""The summary of a real job, of 8 ranks of DLIO, is what the oracle works out, for every --by and filter.

SPDX-License-Identifier: MIT
"""

import os
import sys
import tarfile
import tempfile

import summary_oracle as expected
from summary_check import check_everything

DATA = os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "data")


def the_job_of_dlio(folder):
    with tarfile.open(os.path.join(DATA, "dlio-unet3d-8ranks.tar.gz")) as archive:
        archive.extractall(folder, filter="data")
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    found = check_everything([expected.oracle.read(path) for path in paths], paths, middle=(10, 20))
    forks = sum(group["count"] for group in found["groups"] if group["name"] == "fork")
    epochs = [(line["epoch"], line["fetches"], line["computes"]) for line in found["training"]["by_epoch"]]
    assert epochs == [(epoch, 8 * 4, 8 * 5) for epoch in (1, 2, 3, 4, 5)], epochs
    readme = {
        "events": (found["events"], 18039 - 16),
        "job time": (round(found["job"]["time_ns"] / 1e9, 3), 56.695),
        "threads": (found["threads"], 56),
        "bytes": (round(found["io"]["all"]["read_bytes"] / 2**20, 3), 111833.161),
        "calls": (found["io"]["all"]["calls"] + forks, 10581),
    }
    for what, (ours, theirs) in readme.items():
        assert ours == theirs, f"{what} of the README: {ours} and {theirs}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        the_job_of_dlio(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
