"""test_uses.py - what programs do with functions and methods, done with decorated ones, while tracing and not."""

import textwrap

import pytest
from harness import START, main, run, traces_of

PARTS = {
    "methods of the language": """
        class Object:
            @decorate
            def __init__(self): self.a = 1
            @decorate
            def __eq__(self, other): return True
            @decorate
            def __hash__(self): return 1
            @decorate
            def __repr__(self): return "object"
            @decorate
            def __iter__(self): return iter([1])
            @decorate
            def __contains__(self, x): return True
            @decorate
            def __getitem__(self, i): return i
            @decorate
            def __enter__(self): return self
            @decorate
            def __exit__(self, *error): return False
            @decorate
            async def __aenter__(self): return self
            @decorate
            async def __aexit__(self, *error): return None
            @decorate
            def __bool__(self): return True
            @decorate
            def __add__(self, other): return 9
            @decorate
            def __setattr__(self, name, value): object.__setattr__(self, name, value)
            @decorate
            def __get__(self, owner, type=None): return 5
            @decorate
            def __lt__(self, other): return True
            @decorate
            def __format__(self, how): return "formatted"
            @decorate
            def __index__(self): return 3
            @decorate
            def __del__(self): pass
        one = Object()
        assert one == 1 and hash(one) == 1 and repr(one) == "object" and list(one) == [1] and 3 in one and one[2] == 2
        assert bool(one) and one + 1 == 9 and sorted([one, one]) and f"{one}" == "formatted" and "abcd"[one] == "d"
        with one as entered: assert entered is one
        async def enter():
            async with one: pass
        asyncio.run(enter())
        class Holder: held = one
        assert Holder.held == 5 == Holder().held
        class Meta(type):
            @decorate
            def __call__(cls, *args): return super().__call__(*args)
            @decorate
            def __new__(meta, name, bases, names): return super().__new__(meta, name, bases, names)
        class Made(metaclass=Meta): pass
        assert type(Made()) is Made
        class Default(dict):
            @decorate
            def __missing__(self, key): return key
        assert Default()[3] == 3
        class Named:
            @decorate
            def __set_name__(self, owner, name): self.name = name
            @decorate
            def __get__(self, owner, type): return self.name
        class Owner: attribute = Named()
        assert Owner().attribute == "attribute"
        """,
    "classes of the library": """
        class Object:
            __slots__ = ("__dict__",)
            @functools.cached_property
            @decorate
            def cached(self): return 7
            @functools.lru_cache
            @decorate
            def inner(self, x): return x
            @decorate
            @functools.lru_cache
            def outer(self, x): return x
            part = functools.partialmethod(decorate(lambda self, x: x), 5)
            @property
            @decorate
            def value(self): return 1
            @value.setter
            @decorate
            def value(self, given): self.given = given
            @value.deleter
            @decorate
            def value(self): del self.given
        one = Object()
        assert one.cached == 7 and one.inner(3) == 3 == one.outer(3) and one.part() == 5
        one.value = 4
        assert one.given == 4 and one.value == 1
        del one.value
        class Kind(enum.Enum):
            A = 1
            @decorate
            def number(self): return self.value
            @classmethod
            @decorate
            def make(cls): return cls.A
        assert Kind.A.number() == 1 and len(Kind) == 1 and Kind.make() is Kind.A
        class Row(typing.NamedTuple):
            x: int
            @decorate
            def twice(self): return 2 * self.x
        assert Row(4).twice() == 8
        @typing.runtime_checkable
        class Sized(typing.Protocol):
            @decorate
            def twice(self): ...
        assert isinstance(Row(1), Sized) and not isinstance(1, Sized)
        class Case(unittest.TestCase):
            @decorate
            def test_plain(self): pass
            @unittest.skip("not now")
            @decorate
            def test_skipped(self): raise AssertionError
            @decorate
            @mock.patch("os.getcwd")
            def test_patched(self, stand_in): assert stand_in is os.getcwd
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
        assert result.testsRun >= 2 and not result.errors and not result.failures and len(result.skipped) == 1
        stand_in = mock.create_autospec(Object)
        stand_in.return_value.inner(1)
        with mock.patch.object(Row, "twice", autospec=True): Row(1).twice()
        """,
    "callers of functions": """
        @contextlib.contextmanager
        @decorate
        def inside(x): yield x
        @decorate
        @contextlib.contextmanager
        def outside(x): yield x
        with inside(3) as a, outside(4) as b: assert (a, b) == (3, 4)
        @contextlib.asynccontextmanager
        @decorate
        async def asynchronous(): yield 5
        @decorate
        async def items():
            yield 1
            yield 2
        async def enter():
            async with asynchronous() as x: assert x == 5 and [y async for y in items()] == [1, 2]
        asyncio.run(enter())
        @decorate
        def echo():
            x = yield 1
            yield x
        generator = echo()
        assert next(generator) == 1 and generator.send(5) == 5
        if sys.version_info >= (3, 10):  # before, only functions of Python were looked at
            assert inspect.isgeneratorfunction(echo) and inspect.isasyncgenfunction(items)
        assert inspect.iscoroutinefunction(decorate(enter))
        @decorate
        def many(a, b=2, *args, c, d=4, **more): return a, b, args, c, d, more
        assert many(1, c=3, z=1) == (1, 2, (), 3, 4, {"z": 1})
        assert many(*[1, 2, 3], **{"c": 5}) == (1, 2, (3,), 5, 4, {})
        assert "@decorate" in inspect.getsource(many) and inspect.getmodule(many).__name__ == "__main__"
        assert inspect.isroutine(many) and inspect.getfullargspec(many).args == ["a", "b"]
        assert inspect.signature(many).bind(1, c=2).arguments == {"a": 1, "c": 2}
        assert "many(a, b=2" in pydoc.plain(pydoc.render_doc(many))
        assert isinstance(many, collections.abc.Callable) and {many: 1}[many] == 1
        with concurrent.futures.ThreadPoolExecutor(2) as pool: assert list(pool.map(decorate(abs), [-1, 2])) == [1, 2]
        thread = threading.Thread(target=decorate(lambda: None))
        thread.start(), thread.join()
        atexit.register(decorate(lambda: None))
        signal.signal(signal.SIGUSR1, decorate(lambda *ignored: None))
        os.kill(os.getpid(), signal.SIGUSR1)
        assert functools.reduce(decorate(lambda a, b: a + b), [1, 2, 3]) == 6
        assert max([3, 1], key=decorate(lambda x: -x)) == 1
        assert decorate(decorate(lambda x: x))(1) == 1
        sys.setprofile(lambda *ignored: None)
        many(1, c=1)
        sys.setprofile(None)
        """,
}
HEAD = """
import asyncio, atexit, collections.abc, concurrent.futures, contextlib, enum, functools, inspect, os, pydoc, signal
import threading, typing, unittest, unittest.mock as mock
for decorate in (ai.compute.forward, ai.compute.forward(epoch=1), dft_fn("c").log):
"""


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("enable", ["0", "1"])
def test_uses(tmp_path, part, enable):
    run(START + HEAD + textwrap.indent(textwrap.dedent(PARTS[part]), "    "), tmp_path, DFTRACER_ENABLE=enable)
    assert len(traces_of(tmp_path)) == int(enable)


if __name__ == "__main__":
    main(__file__)
