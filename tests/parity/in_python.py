"""in_python.py - the scenario in Python: in_c.c and in_fortran.f90 record the same. SPDX-License-Identifier: MIT"""

import threading

from dftracer.python import dft_fn, dftracer

log = dftracer.initialize_log()


def step(i):
    with dft_fn("solver", "step") as here:
        here.update(step=i)
        if i % 2 == 0:
            return
        with dft_fn("solver", "odd") as odd:
            odd.update(args={"half": i / 2})


def work():
    with dft_fn("thread", "worker"):
        for i in range(1, 4):
            step(i)


with dft_fn("app", "main") as main:
    main.update(args={"int": -7, "long": 9007199254740993, "real": 0.1, "flag": True, "text": 'grün "quoted" \\ back'})
    for i in range(1, 1001):
        step(i)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    log.log_event("kernel", "device", 1700000000000000, 250, int_args={"bytes": (0, 1099511627776)},
                  float_args={"ratio": (0, 0.25)}, string_args={"file": (0, "a b")})
    log.log_metadata_event("scheme", "upwind")
log.finalize()
