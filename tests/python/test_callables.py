"""test_callables.py - decorated functions are functions to everything that handles functions."""

import textwrap

from harness import START, main, one, run

DECORATED = """
import abc, copy, dataclasses, functools, inspect, pickle, typing, unittest.mock as mock, weakref
class Base(abc.ABC):
    @abc.abstractmethod
    @ai.compute.forward
    def inner(self): ...
    @ai.compute.forward
    @abc.abstractmethod
    def outer(self): ...
assert Base.__abstractmethods__ == {"inner", "outer"}
class Real(Base):
    @ai.compute.forward
    def inner(self): return "i"
    @ai.compute.forward
    def outer(self): return "o"
    @property
    @ai.compute.forward
    def value(self): return "v"
    @ai.compute.forward
    @property
    def other(self): return "p"
real = Real()
assert (real.inner(), real.outer(), real.value, real.other) == ("i", "o", "v", "p")

@functools.singledispatch
def show(x): return "any"
@show.register
@ai.compute.backward
def _(x: int): return "int"
assert show(1) == "int" and show("") == "any"
class Shower:
    @functools.singledispatchmethod
    def show(self, x): return "any"
    @show.register
    @ai.compute.backward
    def _(self, x: int): return "int"
assert Shower().show(1) == "int"

@ai.compute.backward
def typed(a: int, b: str = "x", *, c: float = 1.0) -> bool:
    "documented"
    return True
assert str(inspect.signature(typed)) == "(a: int, b: str = 'x', *, c: float = 1.0) -> bool"
assert inspect.unwrap(typed) is typed.__wrapped__ and typed.__annotations__["a"] is int
assert typing.get_type_hints(typed)["return"] is bool and typed.__code__ is typed.__wrapped__.__code__
assert typed.__module__ == "__main__" and typed.__qualname__ == "typed"
assert "documented" in inspect.getdoc(typed)
assert callable(typed) and weakref.ref(typed)() is typed and "typed" in repr(typed)
typed.mark = 1
assert typed.mark == 1 and vars(typed)["mark"] == 1
assert functools.partial(typed, 1)() and functools.wraps(typed)(lambda: 0).__name__ == "typed"
assert functools.lru_cache(typed)(1) is True and mock.create_autospec(typed)(1) is not None
assert pickle.loads(pickle.dumps(typed)) is typed and copy.deepcopy(typed) is typed

@dataclasses.dataclass
class Data:
    x: int = 1
    @ai.compute.step
    def total(self): return self.x + 1
data = Data(4)
again = pickle.loads(pickle.dumps(data.total))
assert again() == 5 and data.total() == 5 and dataclasses.replace(data, x=9).total() == 10
assert inspect.ismethod(data.total) and inspect.signature(data.total).parameters == {}
with mock.patch.object(Data, "total", return_value=0): assert data.total() == 0

class Model:
    def __init__(self): self.weight = 1; self.step = ai.compute.step(self.forward); self.node = ai.compute.step
    def forward(self): return self.weight
model = Model()
copied = copy.deepcopy(model)
copied.weight = 2
assert (model.step(), copied.step()) == (1, 2) and copied.node is ai.compute.step
sent = pickle.loads(pickle.dumps(model))
sent.weight = 3
assert sent.step() == 3
d = pickle.loads(pickle.dumps(dft_fn("c", "n", epoch=4)))
with d: pass
detached = copy.deepcopy(ai.compute.step(step=6))
with detached: pass
tree = copy.deepcopy(AI(epoch=3))
with tree.compute.forward: pass
class Own(dft_fn):
    def __init__(self): super().__init__("own", "own"); self.extra = 1
with pickle.loads(pickle.dumps(Own())) as o: assert o.extra == 1
"""


def test_under_the_decorators_of_the_standard_library(tmp_path):
    run(START + DECORATED, tmp_path, DFTRACER_ENABLE="0")
    trace = one(DECORATED, tmp_path)
    assert trace.values("n", "epoch") == [4] and 6 in [event["args"].get("step") for event in trace.named("step")]
    assert len(trace.named("own")) == 1


def test_while_off_a_decorated_function_is_a_function_with_the_same_code(tmp_path):
    program = """
        import functools, inspect, types
        d, outside = dft_fn("c"), [1]
        class Base:
            def method(self, x): return x
        class Own(Base):
            @ai.compute.forward
            def method(self, x, *, y=2): return super().method(x) + y
            @d.log_static
            @staticmethod
            def static(x): return x
            @d.log
            @classmethod
            def made(cls): return cls
        assert Own().method(1) == 3 and Own().method(1, y=5) == 6 and Own.static(4) == Own().static(4) == 4
        assert Own.made() is Own and type(Own.method) is types.FunctionType
        def make(k):
            def inner(step=k, /, *rest: int, more: str = "m") -> tuple:
                "text"
                return step, rest, more, k, outside
            inner.mark = [1]
            return inner
        for decorate in (ai.compute.step, ai.compute.step(epoch=1), ai.compute.init, d.log, d.log(), d.log(name="n"),
                         d.log_static):
            inner = make(3)
            function = decorate(inner)
            assert type(function) is types.FunctionType and function is not inner and function.__wrapped__ is inner
            assert function.__code__ is inner.__code__ and function.__closure__ == inner.__closure__
            assert function() == (3, (), "m", 3, outside) and function(1, 2, more="k") == (1, (2,), "k", 3, outside)
            assert inspect.signature(function) == inspect.signature(inner) and function.__doc__ == "text"
            assert function.__qualname__ == inner.__qualname__ and function.__annotations__ == inner.__annotations__
            assert function.mark is inner.mark
            function.own = 1
            assert not hasattr(inner, "own")
        assert d.log_init(make(3))() is None
        for other in (len, functools.partial(len), Own().made, [].append, print):
            assert d.log(other).__wrapped__ is other
        assert d.log(len)([1]) == ai.compute.step(functools.partial(len))([1]) == 1
        @ai.compute.step
        async def waits(): return 7
        @d.log
        def yields(): yield 8
        assert inspect.iscoroutinefunction(waits) and inspect.isgeneratorfunction(yields) and list(yields()) == [8]
        try: waits().send(None)
        except StopIteration as end: assert end.value == 7
        """
    run(START + textwrap.dedent(program), tmp_path, DFTRACER_ENABLE="0")


SPECIAL = """
d = dft_fn("c")
decorators = ai.compute.forward, ai.compute.forward(epoch=1), ai.compute.init, d.log, d.log(name="n"), d.log_static
for decorate in decorators:
    made = []
    class Base:
        @decorate
        def __init_subclass__(cls, flag=None, **more):
            super().__init_subclass__(**more)
            made.append((cls.__name__, flag))
        @decorate
        def __class_getitem__(cls, item): return cls, item
        @decorate
        def __new__(cls, *args): return super().__new__(cls)
        @decorate
        def __call__(self, x): return x
        @decorate
        def __len__(self): return 3
        @decorate
        def __getattr__(self, name):
            if name != "computed": raise AttributeError(name)
            return name
        @property
        @decorate
        def step(self): return 4
    class Sub(Base, flag=5):
        def __new__(cls, a): return super().__new__(cls, a)
    assert made == [("Sub", 5)] and Sub[3] == (Sub, 3) and Base[1] == (Base, 1)
    sub = Sub(7)
    assert type(sub) is Sub is type(sub.__new__(Sub, 3)) and sub(4) == 4 and len(sub) == 3
    assert sub.computed and sub.step == 4
    class Explicit:
        @classmethod
        @decorate
        def __init_subclass__(cls): made.append(cls)
        @decorate
        @classmethod
        def __class_getitem__(cls, item): return item
        @staticmethod
        @decorate
        def __new__(cls): return object.__new__(cls)
    class Below(Explicit): pass
    assert made[-1] is Below and Below[2] == 2 and type(Below()) is Below
@ai.compute.forward
def endless(): return endless()
try: endless()
except RecursionError: pass
else: raise AssertionError
"""


def test_methods_that_classes_treat_specially(tmp_path):
    run(START + SPECIAL, tmp_path, DFTRACER_ENABLE="0")
    trace = one(SPECIAL, tmp_path)
    assert len(trace.named("Base.__init_subclass__")) == len(trace.named("Base.__class_getitem__")) / 2 == 2
    # Under log, the attributes of self are read for the event; that is no call of the program. log_static reads none.
    assert [event["args"].get("step") for event in trace.named("Base.__len__")] == [4, None]
    assert len(trace.named("Base.step")) == 2


def test_what_is_set_on_a_function_decides_how_it_runs(tmp_path):
    program = """
        d = dft_fn("c")
        @d.log
        def f(step=1, *, epoch=2): return step, epoch
        def g(step=9, *, epoch=10): return step, epoch, "g"
        assert f() == (1, 2)
        f.__defaults__, f.__kwdefaults__ = (5,), {"epoch": 6}
        assert f() == (5, 6) and f.__defaults__ == (5,)
        f.__code__ = g.__code__
        assert f() == (5, 6, "g") and f.__code__ is g.__code__
        del f.__kwdefaults__
        try: f()
        except TypeError: pass
        else: raise AssertionError
        f.own = 1
        assert not hasattr(f.__wrapped__, "own")
        @ai.compute.forward
        @d.log
        def twice(step=1): return step
        twice.__defaults__ = (2,)
        assert twice() == 2
        try: d.log(len).__defaults__ = ()
        except AttributeError: pass
        """
    run(START + textwrap.dedent(program), tmp_path, DFTRACER_ENABLE="0")
    trace = one(program, tmp_path)
    assert trace.values("f", "step") == [1, 5, 5, 5] and trace.values("twice", "step") == [2]
    assert [event["args"].get("epoch") for event in trace.named("f")] == [2, 6, 6, None]


def test_asynchronous_functions_blocks_and_loops(tmp_path):
    trace = one(
        """
        import asyncio, inspect
        d = dft_fn("c")
        @ai.compute.forward
        async def forward(x):
            await asyncio.sleep(0.02)
            return x
        @d.log
        async def logged(step): await asyncio.sleep(0.01); return step
        class Model:
            epoch = 3
            @d.log
            async def method(self): return self
        @ai.compute.backward
        async def fails(): raise ValueError
        async def items():
            for i in range(3):
                await asyncio.sleep(0.001)
                yield i
        async def worker(name, pause):
            with ai.device.transfer:
                await asyncio.sleep(pause)
            with ai.comm.send(step=name):
                await asyncio.sleep(pause)
        async def main():
            assert await forward(1) == 1 and await logged(5) == 5 and await Model().method()
            try: await fails()
            except ValueError: pass
            async with ai.data.item as n: assert n is ai.data.item
            async with dft_fn("c", "block"): await asyncio.sleep(0)
            async for i in ai.dataloader.fetch.iter(items()):
                ai.dataloader.fetch.update(step=i)
            await asyncio.gather(worker(1, 0.03), worker(2, 0.01), worker(3, 0.02))
        assert inspect.iscoroutinefunction(forward) and asyncio.iscoroutinefunction(logged)
        asyncio.run(main())
        """,
        tmp_path,
    )
    assert trace.named("forward")[0]["dur"] >= 19000 and trace.named("logged")[0]["dur"] >= 9000
    assert trace.values("logged", "step") == [5] and trace.values("Model.method", "epoch") == [3]
    assert trace.values("backward", "exc") == ["ValueError"]
    assert len(trace.named("item")) == len(trace.named("block")) == 1
    assert trace.values("fetch.iter", "count") == [1, 2, 3] == trace.values("fetch.block", "count")
    assert trace.values("fetch.block", "step") == [0, 1, 2]
    shortest, middle, longest = sorted(event["dur"] for event in trace.named("transfer"))
    assert shortest >= 9000 and middle >= 19000 and longest >= 29000  # each task its own time, though they take turns
    assert sorted(trace.values("send", "step")) == [1, 2, 3]


def test_recursion_reuse_nesting_and_threads(tmp_path):
    trace = one(
        """
        import threading
        @ai.compute.forward
        def down(n): return n and down(n - 1)
        down(9)
        f = dft_fn("c", "same")
        with f:
            with f: pass
        with f: pass
        node = ai.data.item
        def nested(n):
            with node:
                if n: nested(n - 1)
        nested(4)
        def work():
            for _ in range(1000):
                with node: pass
                with f: pass
                down(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        """,
        tmp_path,
    )
    assert len(trace.named("forward")) == 10 + 8000 and len(trace.named("same")) == 3 + 4000
    assert len(trace.named("item")) == 5 + 4000
    own = [event["args"]["level"] for event in trace.named("forward") if event["tid"] == event["pid"]]
    assert own == list(range(10, 0, -1))
    assert len({event["tid"] for event in trace.events}) == 5


def test_counts_and_memory_stay_flat(tmp_path):
    run(
        """
        import gc, resource, sys, weakref
        from dftracer.python import ai, dft_fn, dftracer
        log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
        d = dft_fn("c")
        @ai.compute.forward
        def node(x): return x
        @d.log
        def logged(step): return step
        node_object, value = ai.compute.forward, object()
        def burst(n):
            for i in range(n):
                node(value)
                with node_object: pass
                if i % 8 == 0:
                    logged(i)
                    with node_object(step=i, args={"a": "b"}): pass
            for _ in ai.dataloader.fetch.iter(range(n)): pass
        burst(100_000)
        gc.collect()
        counts = [sys.getrefcount(x) for x in (value, node, node_object, node.__wrapped__, None, d)]
        objects, memory = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        burst(2_500_000)
        gc.collect()
        after = [sys.getrefcount(x) for x in (value, node, node_object, node.__wrapped__, None, d)]
        assert all(abs(a - b) < 20 for a, b in zip(counts, after)), (counts, after)
        assert abs(len(gc.get_objects()) - objects) < 50
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        assert grown < 8192, f"{grown} KiB more"
        """,
        tmp_path,
        DFTRACER_SINK="null",
        DFTRACER_SPOOL_LIMIT="4M",
    )


def test_collector_sees_every_cycle(tmp_path):
    run(
        """
        import gc, weakref
        from dftracer.python import AI, ai, dft_fn
        class Thing: pass
        def cycles():
            thing = Thing()
            thing.fn = dft_fn("c"); thing.fn.thing = thing
            for _ in range(3):
                with thing.fn: pass
            yield weakref.ref(thing)
            thing = Thing()
            thing.call = ai.compute.forward(lambda: thing)
            yield weakref.ref(thing)
            thing = Thing()
            thing.loop = ai.compute.iter(iter([thing])); next(thing.loop)
            yield weakref.ref(thing)
            thing = Thing()
            thing.tree = AI(); thing.tree.compute.thing = thing; thing.view = thing.tree.compute.profiler
            yield weakref.ref(thing)
        left = list(cycles())
        gc.collect()
        assert [ref() for ref in left] == [None] * 4, left
        """,
        tmp_path,
    )


def test_sub_interpreters_are_refused(tmp_path):
    run(
        """
        import sys
        try: import _interpreters as interpreters
        except ImportError: import _xxsubinterpreters as interpreters  # before 3.13
        import dftracer.python
        number = interpreters.create()
        code = "import sys; sys.path[:] = %r\\n" % sys.path + '''
        try: import dftracer.dftracer
        except ImportError as error: assert "interpreter" in str(error), error
        else: raise AssertionError
        from dftracer.python import NoOpProfiler, ai, profiler
        with ai.compute: assert isinstance(profiler, NoOpProfiler)'''.replace("\\n        ", "\\n")
        assert interpreters.run_string(number, code) is None
        interpreters.destroy(number)
        """,
        tmp_path,
    )


def test_odd_uses_give_errors_not_crashes(tmp_path):
    run(
        """
        from dftracer.python import *
        from dftracer.python import ai, dft_fn, dftracer
        import dftracer.dftracer as native
        def refuses(call, *errors):
            try: call()
            except errors: return
            raise AssertionError
        refuses(lambda: ai.compute(5), TypeError)
        refuses(lambda: ai.compute(nonsense=1), TypeError)
        refuses(lambda: ai.compute.update(nonsense=1), TypeError)
        refuses(lambda: ai.compute.iter(5), TypeError)
        refuses(lambda: dft_fn(), TypeError)
        refuses(lambda: DFTracerAI(), TypeError)
        refuses(lambda: DFTracerAI("positional"), TypeError)
        refuses(lambda: type(ai.compute(print))(), TypeError)
        refuses(lambda: type(ai.compute.iter([1]))() , TypeError)
        refuses(lambda: native._wrap(1, 2), TypeError)
        refuses(lambda: dftracer.initialize_log(5), TypeError)
        refuses(lambda: dft_fn("c").__setstate__(5), TypeError)
        refuses(lambda: ai.compute(print).__setattr__(5, 5), TypeError)
        class Odd:
            def keys(self): return ["a"]
            def items(self): return [1, 2]
            def __getitem__(self, key): return 3
        dftracer.initialize_log()
        assert dft_fn("c").update(args=Odd())._arguments_int == {"a": (0, 3)}
        native.log_event("n", "c", 1, 1, Odd(), Odd(), Odd(), {5: 1, "x": 2, 0: 3})
        ring = ai.compute.derive("ring"); ring._children["ring"] = ring; ring.update(epoch=1); ring.disable()
        class Own:
            def items(self): return [1]
        dft_fn("c").update(args=Own()); refuses(lambda: ai.compute.create_children(Own()), TypeError, AttributeError)
        blank = dft_fn.__new__(dft_fn); blank.update(epoch=1); blank.flush()
        with blank: pass
        with DFTracerAI.__new__(DFTracerAI) as node: node.derive("x"); node._children
        assert dft_fn("c").log(print).__name__ == "print"
        """,
        tmp_path,
    )


if __name__ == "__main__":
    main(__file__)
