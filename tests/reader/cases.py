"""cases.py - runs the cases of a test, each in a folder of its own. SPDX-License-Identifier: MIT"""

import tempfile


def run_cases(*cases):
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
            print("passed:", case.__name__, flush=True)
