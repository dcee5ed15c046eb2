"""test_processes.py - children of a traced program: every event there, each process its own file."""

import os
import signal
import subprocess
import sys

import pytest
from harness import PYTHON, environment, main, record, run, traces_of

WORKERS, EVENTS = 4, 200
HEAD = """
import multiprocessing, os, signal, sys, time
from concurrent.futures import ProcessPoolExecutor
from dftracer.python import ai, dftracer

@ai.compute.forward
def work(i):
    with ai.data.item(step=i): return i

def many(n):
    for i in range(n): work(i)

def many_then(n, how, path):
    many(n)
    open(f"{path}/{os.getpid()}.done", "w").close()
    if how == "exit": os._exit(3)
    if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if how == "raise": sys.exit("told")
    if how == "wait": time.sleep(100)

if __name__ == "__main__":
    folder, method = sys.argv[1:3]
    log = dftracer.initialize_log(f"{folder}/x.pfw")
    context = multiprocessing.get_context(method)
    with ai.pipeline.train: pass
"""


def total(traces, name="forward"):
    return sum(len(trace.named(name)) for trace in traces)


def check(traces, processes, events):
    assert total(traces) == events == total(traces, "item")
    assert len({trace.pid for trace in traces}) == len(traces) == processes
    assert sum(trace.path.endswith("/x.pfw") for trace in traces) == 1
    assert len({trace.named("start")[0]["args"]["run"] for trace in traces}) == 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("how", ["normal", "exit", "kill", "raise", "terminate"])
def test_processes_however_they_end(tmp_path, method, how):
    traces = record(
        HEAD
        + f"""
    how = "wait" if "{how}" == "terminate" else "{how}"
    children = [context.Process(target=many_then, args=({EVENTS}, how, folder)) for _ in range({WORKERS})]
    for child in children: child.start()
    while len([name for name in os.listdir(folder) if name.endswith(".done")]) < {WORKERS}: time.sleep(0.01)
    if how == "wait":
        for child in children: child.terminate()
    for child in children: child.join()
    log.finalize()
    """,
        tmp_path,
        method,
        start=False,
    )
    check(traces, WORKERS + 1, WORKERS * EVENTS)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_and_executors(tmp_path, method):
    traces = record(
        HEAD
        + f"""
    with context.Pool({WORKERS}) as pool: pool.map(work, range(400), chunksize=10)
    pool = context.Pool(2)
    pool.map(work, range(400))
    pool.close(); pool.join()
    with ProcessPoolExecutor(2, mp_context=context) as executor: list(executor.map(work, range(400)))
    log.finalize()
    """,
        tmp_path,
        method,
        start=False,
    )
    assert total(traces) == 1200 == total(traces, "item")
    assert len({trace.pid for trace in traces}) == len(traces)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_forty_thousand_of_forty_thousand(tmp_path, method):
    traces = record(
        HEAD
        + """
    children = [context.Process(target=many, args=(10000,)) for _ in range(4)]
    for child in children: child.start()
    for child in children: child.join()
    """,
        tmp_path,
        method,
        start=False,
    )
    check(traces, 5, 40000)


def test_children_after_finalize_are_left_alone(tmp_path):
    traces = record(
        HEAD
        + """
    environment = dict(os.environ)
    log.finalize()
    assert "DFTRACER_PARENT" not in os.environ and "DFTRACER_LOG_FILE" not in os.environ
    child = context.Process(target=many, args=(10,))
    child.start(); child.join()
    """,
        tmp_path,
        "spawn",
        start=False,
    )
    assert len(traces) == 1 and total(traces) == 0


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_daemons_that_outlive_finalize_are_published_at_exit(tmp_path, method):
    traces = record(
        HEAD
        + f"""
    children = [context.Process(target=many_then, args=({EVENTS}, "wait", folder), daemon=True) for _ in range(2)]
    for child in children: child.start()
    while len([name for name in os.listdir(folder) if name.endswith(".done")]) < 2: time.sleep(0.01)
    log.finalize()  # multiprocessing ends them after that, with SIGTERM
        """,
        tmp_path,
        method,
        start=False,
    )
    check(traces, 3, 2 * EVENTS)


def test_scripts_started_by_a_traced_one(tmp_path):
    (tmp_path / "follower.py").write_text("from dftracer.python import ai\nwith ai.comm.send: pass\n")
    (tmp_path / "own.py").write_text(
        "import sys\nfrom dftracer.python import ai, dftracer\nwith ai.comm.receive: pass\n"
        "log = dftracer.initialize_log(sys.argv[1] + '/own.pfw')\nwith ai.comm.bcast: pass\nlog.finalize()\n"
    )
    (tmp_path / "stranger.py").write_text("print(1)\n")
    traces = record(
        """
        import subprocess
        for name in ("follower", "own", "stranger"):
            subprocess.run([sys.executable, f"{sys.argv[1]}/{name}.py", sys.argv[1]], check=True)
        with ai.compute: pass
        log.finalize()
        """,
        tmp_path,
    )
    by_event = {event["name"]: os.path.basename(trace.path) for trace in traces for event in trace.user_events()}
    assert by_event["compute"] == "x.pfw" and by_event["bcast"] == "own.pfw" and by_event["send"].startswith("x-")
    assert len(traces) == 4


def test_fork_without_multiprocessing(tmp_path):
    traces = record(
        """
        import os
        with ai.pipeline.train:
            for how in ("plain", "finalize"):
                if os.fork() == 0:
                    for _ in range(50):
                        with ai.compute.forward: pass
                    if how == "finalize": log.finalize()
                    os._exit(0)
                os.wait()
        log.finalize()
        """,
        tmp_path,
    )
    assert total(traces) == 100 and len(traces) == 3


def test_interrupt_stays_an_interrupt(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import sys, time\nfrom dftracer.python import ai, dftracer\n"
        "dftracer.initialize_log(sys.argv[1] + '/x.pfw')\n"
        "try:\n    with ai.compute:\n        print('ready', flush=True)\n        time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n    raise\n"
    )
    child = subprocess.Popen(
        [PYTHON, script, tmp_path], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate(timeout=60)
    assert output == "interrupted\n" and "KeyboardInterrupt" in errors and child.returncode == -signal.SIGINT
    assert [event["args"].get("exc") for event in traces_of(tmp_path)[0].named("compute")] == ["KeyboardInterrupt"]


def test_daemon_threads_at_the_end_of_the_interpreter(tmp_path):
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        traces = record(
            """
            import threading, time
            def work():
                while True:
                    with ai.compute.forward: time.sleep(0.0002)
            for _ in range(4): threading.Thread(target=work, daemon=True).start()
            time.sleep(0.2)
            """,
            folder,
        )
        assert total(traces) > 100


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_program_is_left_as_it_was(tmp_path):
    run(
        """
        import os, signal, sys, threading
        def picture():
            return (sorted(os.listdir("/proc/self/fd")), os.getcwd(), os.umask(0o022),
                    [signal.getsignal(n) for n in range(1, 32)])
        import dftracer.python
        before = picture()
        from dftracer.python import ai, dftracer
        log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
        for _ in range(100000):
            with ai.compute: pass
        assert picture() == before
        log.finalize()
        assert picture() == before and not os.path.exists("dft.log")
        """,
        tmp_path,
    )


if __name__ == "__main__":
    main(__file__)
