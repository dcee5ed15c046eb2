"""test_imbalance.py - stops without a start, and starts without a stop: counted and named in the end of the trace."""

from harness import main, record

HEAD = """
import multiprocessing, sys, threading
from dftracer.python import ai, dftracer
log = dftracer.initialize_log(f"{sys.argv[1]}/x.pfw")
"""


def facts(trace):
    end = trace.end["args"]
    return {key: end.get(key) for key in ("unmatched_ends", "unmatched_sites", "open_regions", "open_sites")}


def test_what_does_not_fit_is_counted_and_named(tmp_path):
    (trace,) = record(
        HEAD
        + """
for i in range(3): ai.compute.forward.stop()
ai.data.item.start()
ai.pipeline.epoch.start()
log.finalize()
""",
        tmp_path,
        start=False,
    )
    assert facts(trace) == {
        "unmatched_ends": 3,
        "unmatched_sites": "forward (compute)",
        "open_regions": 2,
        "open_sites": "item (data); epoch (pipeline)",
    }


def test_a_balanced_program_says_nothing(tmp_path):
    """Nodes that are off, stops before the trace, forked children of an open region, and exceptions are in order."""
    traces = record(
        HEAD.replace("log =", "ai.data.item.stop()\nlog =")
        + """
def child():
    with ai.compute.backward: pass
    ai.compute.forward.stop()
ai.comm.disable()
ai.comm.all_reduce.stop()
ai.compute.forward.start()
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
ai.compute.forward.stop()
try:
    with ai.compute.step: raise KeyError
except KeyError: pass
log.finalize()
""",
        tmp_path,
        start=False,
    )
    assert len(traces) == 2
    assert [facts(trace) for trace in traces] == [dict.fromkeys(facts(traces[0]))] * 2


def test_a_stop_on_another_thread_is_no_match(tmp_path):
    (trace,) = record(
        HEAD
        + """
ai.compute.forward.start()
thread = threading.Thread(target=ai.compute.forward.stop)
thread.start()
thread.join()
log.finalize()
""",
        tmp_path,
        start=False,
    )
    assert facts(trace)["unmatched_sites"] == facts(trace)["open_sites"] == "forward (compute)"


if __name__ == "__main__":
    main(__file__)
