"""test_threads.py - threads that share nodes, functions and loops. Without a GIL they run at the same time."""

import textwrap

import harness
from harness import main

SHARED = """
import gc, pickle, sys, threading
THREADS, TURNS = 4, 100
f, node = dft_fn("cat", "n"), ai.compute.derive("shared")
@f.log
def work(epoch=1): return epoch
@node
def part(): pass
sys.setswitchinterval(1e-5)
failed = []
def each(task):
    start = threading.Barrier(THREADS)
    def run(number):
        start.wait()
        try:
            for i in range(TURNS): task(number, i)
        except BaseException as error: failed.append(error); raise
    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not failed, failed
"""


def share(program, folder):
    return harness.one(SHARED + textwrap.dedent(program), folder, overlap=True, PYTHONMALLOC="debug")


def test_relations_belong_to_one_of_the_events(tmp_path):
    trace = share(
        """
        def task(number, i):
            with f: f.relate(i % 4, 1 + i)
            with node: node.profiler.relate(0, 5)
            f.relate(1, 2).reset()
            f._relations.copy()
        each(task)
        """,
        tmp_path,
    )
    assert len(trace.named("n")) == 4 * 100


def test_names_change_while_events_use_them(tmp_path):
    trace = share(
        """
        def task(number, i):
            if number == 0: f._name = f"n{i}" * 10; f._cat = f"c{i}" * 10; node._name = f"x{i}" * 10
            with f: pass
            part(); work(i); f._name, node.name, f._cat
            for item in node.iter([1]): pass
            node.derive(f"y{i % 7}"); node(step=i)
            if i % 50 == 0: pickle.dumps(f), f.__getstate__(), node.__getstate__()
        each(task)
        """,
        tmp_path,
    )
    assert len(trace.named("work")) == 4 * 100


def test_values_change_while_events_use_them(tmp_path):
    share(
        """
        def task(number, i):
            f.update(epoch=i, args={f"key{i % 40}": "v" * 50}); node.update(step=i, args={"other": "w" * 50})
            node.profiler.update(args={f"more{i % 20}": "u" * 50})
            with f: pass
            with node: pass
            work(i); f._arguments_int, f._arguments_string, node.profiler._arguments_string
            if number == 0: list(f.iter([1]))
        each(task)
        """,
        tmp_path,
    )


def test_children_and_views_come_and_go(tmp_path):
    share(
        """
        def task(number, i):
            node.profiler, node.init, node.derive("z"), dict(node._children)
            node.update(epoch=i)
            if i % 3 == number % 3: node._children = {}
            with node.profiler: pass
            other = node(step=1); other.profiler; del other
            if i % 100 == 0: gc.collect()
        each(task)
        """,
        tmp_path,
    )


def test_a_loop_ends_while_others_use_it(tmp_path):
    share(
        """
        class Endless:
            def __iter__(self): return self
            def __next__(self): return [1]
        loops = [None] * (TURNS + 1)
        lock = threading.Lock()
        def task(number, i):
            with lock:
                if loops[i] is None: loops[i] = (node.iter if i % 2 else f.iter)(Endless())
            for turn in range(3): next(loops[i], None)
            getattr(loops[i], "other", None)
            loops[i].close()
        each(task)
        """,
        tmp_path,
    )


if __name__ == "__main__":
    main(__file__)
