"""test_absent.py - without the native module everything can be imported and used, as with tracing off."""

import os
import pathlib
import tempfile
import textwrap

import harness
import pytest
import test_ai_logging_document
import test_ai_ml_guide_document
import test_imports
import test_uses

PATHS = {
    **{path: names for path, names in test_imports.PATHS.items() if names is not test_imports.NATIVE},
    "dftracer.python.torch": ["trace_handler", "trace"],
    "dftracer.python.torch.profiler": ["trace_handler"],
    "dftracer.python.torch.common": ["trace_handler"],
    "dftracer.python.dbg.torch": ["trace_handler"],
    "dftracer.python.dbg.torch.profiler": ["trace_handler"],
}
IMPORTS = "\n".join(f"from {path} import {', '.join(names)}" for path, names in PATHS.items())
SCENARIO = pathlib.Path(__file__).with_name("scenario.py")

# Every line that is printed must be the same with tracing off.
USES = {
    "class dftracer": """
        log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", data_dir="all", process_id=None)
        print(log is dftracer.get_instance(), log.logger, log.start_time, log.get_time())
        print(log.get_config("DFTRACER_ENABLE") == "", log.enter_event(), log.exit_event())
        print(log.log_event("n", "c", 100, 50, {"arg": "value"}))
        print(log.log_event("n", "c", 1, 2, {"a": (0, 1)}, {"b": 0.5}, {"c": "d"}, {0: [1]}))
        print(log.log_metadata_event("k", "v"), log.set_app_metadata_int("k", 1), log.set_app_metadata_string("k", "v"))
        print(log.mark_used("x"), log.declare_entity("t", 5, EntityStore.GPU_MEMORY, "u"), log.declare_entity_type("t"))
        print(log.relate_entities(EntityRelation.PART_OF, 1, 2), get_time_scale(), log.dbg_logging.name)
        log.logger = object()
        print(log.get_time(), log.finalize(), log.finalize())
        print([(name, getattr(profiler, name)()) for name in ("initialize", "get_time", "enter_event", "finalize")])
        try: capture_signal(3, None)
        except SystemExit as end: print(end.code)
        """,
    "dft_fn": """
        def maker(): return dft_fn("c")
        f = dft_fn("cat", "name", 1, 2, image_idx=3, image_size=4)
        print(f._cat, f._name, f._enable, f._flush, maker()._name, dft_fn("c", enable=False)._enable)
        print(f.update(1, 2, args={"a": 1}) is f, f.flush() is f, f._flush, f.reset() is f, f.relate(0, 5) is f)
        print(f._arguments_int, f._arguments_float, f._arguments_string, f._relations, f.get_time())
        print(f.log_metadata("k", "v"), f.uses("t", 1), f.generates("t", 1), f.relate_entity(0, "t", 1, uri="u"))
        with f as entered: print(entered is f)
        print(list(f.iter(range(3))), list(f.iter("ab", name="n", iter_name="m")))
        f._arguments = {}
        f._name = "other"
        print(f._name, pickle.loads(pickle.dumps(f))._name, copy.deepcopy(f)._cat)
        class Object:
            @f.log_init
            def __init__(self, a=1): self.a = a
            @f.log(name="n")
            def method(self, b): return self.a + b
            @staticmethod
            @f.log_static
            def inner(c): return c
            @f.log_static()
            @staticmethod
            def outer(c): return c
            @classmethod
            @f.log
            def make(cls): return cls(7)
            @f.log
            @property
            def value(self): return self.a
        one = Object(5)
        print(one.method(1), one.inner(2), Object.outer(3), Object.make().a, one.value, Object.__init__(one))
        print(f.log_init()(lambda: 3)(), f.log("n")(lambda: 4)(), f.log(one.method)(5), type(f.log(maker)).__name__)
        """,
    "ai tree": """
        node = ai.compute.forward
        print(node.cat, node.name, node._enable, node.profiler._name, node.profiler._arguments_int, node.get_time())
        print([(child.cat, child.name) for child in AI(epoch=1)._children.values()], ai.data.io.open.name)
        print(node(enable=False)._enable, node(epoch=1).name, type(node(step=3)).__name__, node() is node)
        print(node.update(epoch=1, step=2, image_idx=3, image_size=4, args={"a": 1}) is node)
        print(node.derive("x").name, node.derive("x") is node.derive(name="x"), node.init.name, ai.derive("y").name)
        print(node.start(), node.stop(metadata=True), node.reset() is node, node.flush() is node)
        print(ai.disable(), ai.data.io.read._enable, node.init._enable, ai.enable(), node.init._enable)
        node.profiler._enable = False
        print(node._enable, node.create_children({"part": "whole"}), node.part.name, list(node._children))
        for use in (node, node(step=1), node.init):
            with use as entered: print(entered is use)
        with ai.checkpoint.init, node(step=1): pass
        print(list(node.iter([1, 2])), list(node.iter([3], include_block=False, block_name="b", iter_name="i")))
        print(pickle.loads(pickle.dumps(node)) is node, copy.deepcopy(node.derive("x")) is node.derive("x"))
        print(pickle.loads(pickle.dumps(node(step=1))).name, DFTracerAI(cat="c").name, isinstance(compute, DFTracerAI))
        print(dynamo.compile(len) is len, dynamo.compile(autograd=False)(len) is len, dynamo.reset() is dynamo)
        print(trace_handler(None), trace().undo())
        """,
    "functions": """
        def plain(a, b=2, *, c: int = 3) -> int:
            "What it does."
            return a + b + c
        def generator():
            yield 1
            return 2
        async def coroutine(): return 3
        class Callable:
            attribute = 4
            def __call__(self, x): return x
            async def wait(self): return 5
        def shown(f):
            names = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__kwdefaults__")
            return [getattr(f, name, None) for name in names] + [type(f).__name__, inspect.signature(f)]
        f, node = dft_fn("c"), ai.compute.forward
        for decorate in (node, node(step=1), node.init, f.log, f.log()):
            made = decorate(plain)
            made.own = 1
            print(made is plain, hasattr(plain, "own"), made.__wrapped__ is plain, made(1), made(1, c=9), shown(made))
            print(list(decorate(generator)()), inspect.isgeneratorfunction(decorate(generator)))
            print(asyncio.run(decorate(coroutine)()), inspect.iscoroutinefunction(decorate(coroutine)))
            traced = decorate(Callable())
            print(traced(6), traced.attribute, type(traced).__name__)
            print(decorate(Callable).attribute, decorate(Callable)()(7))
            print(decorate(print)("printed"), shown(decorate(functools.partial(plain, 1)))[0], decorate(len)("ab"))
            wait = decorate(Callable().wait)
            print(asyncio.run(wait()), inspect.iscoroutinefunction(wait))
            print(pickle.loads(pickle.dumps(decorate(Callable().__call__)))(8))
            class Bound: method = decorate(functools.partial(lambda self, x: (type(self).__name__, x)))
            print(Bound().method(9), Bound.method is Bound.__dict__["method"])
            for wrong in (5, "text", None):
                try: print(type(decorate(wrong)).__name__)
                except TypeError as error: print(error)
        async def blocks():
            async def items():
                yield 1
                yield 2
            async with node as entered: print(entered is node)
            async with f as entered: print(entered is f)
            print(await f.log_init(coroutine)(), await f.log_init(Callable().wait)())
            print([item async for item in node.iter(items())], [item async for item in f.iter(items())])
        asyncio.run(blocks())
        """,
}
HEAD = f"import asyncio, copy, functools, inspect, pickle, sys\n{IMPORTS}\n"


class Compared(Exception):
    """The rest of a test is about the trace."""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """One copy for all tests, so that Python compiles it once."""
    return harness.package_without_native(tmp_path_factory.mktemp("package"))


@pytest.fixture
def absent(package, monkeypatch):
    """Runs a program where there is no native module."""

    def run(*arguments, **options):
        with monkeypatch.context() as changed:
            changed.setattr(harness, "PYTHONPATH", package)
            return harness.run(*arguments, **options)

    return run


def compare(absent, program, folder, *arguments, **options):
    """Returns what the program printed with tracing off, which must be what it prints without the native module."""
    results = []
    for name, run, enable in (("off", harness.run, "0"), ("absent", absent, "1")):
        place = pathlib.Path(tempfile.mkdtemp(prefix=name, dir=folder))
        printed = run(program, place, *arguments, **{**options, "DFTRACER_ENABLE": enable})
        results.append((printed, harness.run.stderr, sorted(os.listdir(place))))
    off, without = results
    assert without == off and off[1] == ""
    return off[0]


def test_every_path_has_its_names_but_those_of_the_native_module(absent, tmp_path):
    program = """
        assert isinstance(profiler, NoOpProfiler) and DFTRACER_ENABLE and isinstance(__version__, str)
        for name in ("dftracer.dftracer", "dftracer.dftracer_dbg"):
            try: __import__(name)
            except ImportError: pass
            else: raise AssertionError(name)
        """
    assert absent(HEAD + textwrap.dedent(program), tmp_path) == "" == harness.run.stderr


@pytest.mark.parametrize("part", USES)
def test_uses_are_inert(absent, tmp_path, part):
    """Also in a child of a traced process."""
    text = HEAD + textwrap.dedent(USES[part])
    assert compare(absent, text, tmp_path)
    compare(absent, text, tmp_path, DFTRACER_PARENT="1", DFTRACER_LOG_FILE=f"{tmp_path}/parent")


@pytest.mark.parametrize("part", test_uses.PARTS)
def test_functions_are_as_with_tracing_off(absent, tmp_path, part):
    body = textwrap.indent(textwrap.dedent(test_uses.PARTS[part]), "    ")
    compare(absent, harness.START + test_uses.HEAD + body, tmp_path)


@pytest.mark.parametrize("case", ["normal", "metadata", "compute"])
def test_training_runs(absent, tmp_path, case):
    assert compare(absent, SCENARIO, tmp_path, case) == "0\n"


@pytest.mark.parametrize("document", [test_ai_logging_document, test_ai_ml_guide_document])
def test_blocks_of_the_documents_run(absent, tmp_path, monkeypatch, document):
    def stop(program, folder, *arguments, **options):
        compare(absent, textwrap.dedent(program), folder, *arguments)
        raise Compared

    for name in ("one", "record", "run"):
        monkeypatch.setattr(document, name, stop, raising=False)
    for name, test in vars(document).items():
        if name.startswith("test_"):
            with pytest.raises(Compared):
                test(tmp_path)


def test_import_loads_little(absent, tmp_path):
    absent(
        """
        import sys
        known = set(sys.modules)
        import dftracer.python
        heavy = {"torch", "typing", "re", "logging", "inspect", "multiprocessing", "email"}
        assert not heavy & (set(sys.modules) - known), heavy & set(sys.modules)
        """,
        tmp_path,
    )


@pytest.mark.parametrize(
    ("level", "enable", "said"),
    [
        ("ERROR", "1", ""),
        ("WARN", "1", "[WARNING] tracing is enabled but not available: No module named 'dftracer.dftracer'\n"),
        ("INFO", "true", "[WARNING] tracing is enabled but not available: No module named 'dftracer.dftracer'\n"),
        ("WARN", "0", ""),
        ("DEBUG", "0", "[INFO] tracing is not enabled (DFTRACER_ENABLE)\n"),
    ],
)
def test_it_is_said_once(absent, tmp_path, level, enable, said):
    absent(IMPORTS, tmp_path, DFTRACER_LOG_LEVEL=level, DFTRACER_ENABLE=enable)
    assert harness.run.stderr == said


def test_a_module_that_cannot_be_loaded_is_told_with_the_reason(absent, tmp_path):
    (tmp_path / "dftracer").mkdir()  # dftracer is a namespace: this folder of the script is a part of it
    (tmp_path / "dftracer" / "dftracer.so").write_text("no library")
    absent(IMPORTS, tmp_path)
    assert harness.run.stderr == ""
    absent(IMPORTS, tmp_path, DFTRACER_LOG_LEVEL="INFO")
    assert harness.run.stderr.startswith("[WARNING] tracing is enabled but not available: ")
    assert str(tmp_path) in harness.run.stderr


if __name__ == "__main__":
    harness.main(__file__)
