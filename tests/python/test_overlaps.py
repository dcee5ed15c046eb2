"""test_overlaps.py - what overlaps on one thread goes onto lanes: every trace is checked for T4 when it is read."""

import textwrap

from harness import arguments_of, main, one

START = """
import time
d, e = dft_fn("c", "d"), dft_fn("c", "e")
def pause(): time.sleep(0.001)
def batches():
    for b in ai.dataloader.fetch.iter(range(3)):
        pause(); yield b; pause()
def rows():
    for b in d.iter(range(3), "in"):
        pause(); yield b; pause()
def inside(block):
    with block:
        pause(); yield 1; pause(); yield 2; pause()
"""
LANE_TID = 1 << 22


def overlapping(program, folder):
    """The trace, and the names of what is on lanes; each lane has a name, and nothing is lost."""
    trace = one(START + textwrap.dedent(program), folder)
    lanes = {event["tid"] for event in trace.events if event["tid"] > LANE_TID}
    named = {event["tid"] for event in trace.named("thread_name")}
    assert lanes <= named and "num_dropped" not in trace.end["args"]
    return trace, {event["name"] for event in trace.events if event["tid"] > LANE_TID and event["ph"] == "X"}


def test_a_loop_over_a_generator_that_loops(tmp_path):
    trace, lanes = overlapping("for x in ai.pipeline.epoch.iter(batches()): pause()", tmp_path)
    assert lanes == {"epoch.iter"}
    for name in ("epoch.iter", "epoch.block", "fetch.iter", "fetch.block"):
        assert [arguments_of(event) for event in trace.named(name)] == [{"count": n} for n in (1, 2, 3)]
        assert trace.values(name, "level") in ([1, 1, 1], [2, 2, 2])


def test_loops_of_each_kind_over_generators_of_each_kind(tmp_path):
    program = """
        for x in e.iter(rows(), "out"): pause()
        for x in ai.pipeline.epoch.iter(rows()): pause()
        for x in e.iter(batches(), "out"): pause()
        def middle():
            for x in ai.data.item.iter(batches()): pause(); yield x
        for x in ai.pipeline.epoch.iter(middle()): pause()
        for x in ai.pipeline.epoch.iter(batches()):
            pause(); break
        pause()
        """
    trace, lanes = overlapping(program, tmp_path)
    assert lanes == {"out.iter", "epoch.iter", "epoch.iter.cut", "item.iter"}
    assert len(trace.named("fetch.block")) == 6 and len(trace.named("fetch.block.cut")) == 1


def test_blocks_around_a_yield(tmp_path):
    program = """
        for x in ai.pipeline.epoch.iter(inside(ai.compute.forward)): pause()
        for x in e.iter(inside(d), "out"): pause()
        for x in ai.pipeline.epoch.iter(inside(ai.compute.forward(step=1))): pause()
        for x, y in zip(inside(ai.data.item), inside(d)): pause()
        a, b = inside(ai.compute.forward), inside(ai.compute.backward)
        next(a); pause(); next(b); pause(); next(a); pause(); next(b); list(a); list(b)
        """
    trace, lanes = overlapping(program, tmp_path)
    assert lanes >= {"epoch.iter", "out.iter"} and len(trace.named("forward")) == 3


def test_loops_that_do_not_overlap_stay_on_their_thread(tmp_path):
    program = """
        def plain():
            for i in range(3):
                with ai.data.item: pause()
                yield i
        for epoch in ai.pipeline.epoch.iter(range(2)):
            for x in ai.dataloader.fetch.iter(plain()):
                with ai.compute: pause()
            for x in d.iter(plain()): pause()
        it = ai.dataloader.fetch.iter(range(5))
        with ai.compute: next(it); pause(); next(it)
        with ai.compute.forward: del it
        """
    trace, lanes = overlapping(program, tmp_path)
    assert lanes <= {"fetch.block.cut"} and not [event for event in trace.named("item") if event["tid"] > LANE_TID]


def test_asynchronous_loops_that_take_turns(tmp_path):
    program = """
        import asyncio
        async def items():
            for i in range(3): await asyncio.sleep(0.001); yield i
        async def batches():
            async for x in ai.dataloader.fetch.iter(items()): yield x
        async def train():
            async for x in ai.pipeline.epoch.iter(batches()): await asyncio.sleep(0.001)
            async for x in d.iter(items(), "own"): await asyncio.sleep(0.001)
        async def all(): await asyncio.gather(train(), train(), train())
        asyncio.run(all())
        """
    trace, _ = overlapping(program, tmp_path)
    for name in ("epoch.iter", "epoch.block", "fetch.iter", "fetch.block", "own.iter", "own.yield"):
        assert len(trace.named(name)) == 9, name
    assert sorted(trace.values("epoch.block", "count")) == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_an_asynchronous_loop_alone_stays_on_its_thread(tmp_path):
    program = """
        import asyncio
        async def items():
            for i in range(3): await asyncio.sleep(0.001); yield i
        async def train():
            async for x in ai.pipeline.epoch.iter(items()): ai.pipeline.epoch.update(step=x)
        asyncio.run(train())
        """
    trace, lanes = overlapping(program, tmp_path)
    assert not lanes and trace.values("epoch.iter", "step") == [0, 1, 2] == trace.values("epoch.block", "step")


if __name__ == "__main__":
    main(__file__)
