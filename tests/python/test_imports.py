"""test_imports.py - what can be imported, from where, and what an import does."""

import pytest
from harness import arguments_of, main, run, traces_of

PACKAGE = [
    "AI",
    "BLOCK_NAME",
    "CTX_SEPARATOR",
    "DFTRACER_ENABLE",
    "DFTRACER_ENABLE_ENV",
    "DFTRACER_INIT_ENV",
    "DFTRACER_INIT_PRELOAD",
    "DFTRACER_LOG_LEVEL",
    "DFTRACER_LOG_LEVEL_ENV",
    "DFTRACER_TIME_METRIC_ENV",
    "INIT_NAME",
    "IO",
    "ITER_COUNT_NAME",
    "ITER_NAME",
    "ROOT_CAT",
    "ROOT_NAME",
    "START_METADATA_NAME",
    "STOP_METADATA_NAME",
    "Checkpoint",
    "CheckpointEvent",
    "Communication",
    "CommunicationEvent",
    "Compute",
    "ComputeEvent",
    "DFTracerAI",
    "Data",
    "DataEvent",
    "DataLoader",
    "DataLoaderEvent",
    "Device",
    "DeviceEvent",
    "Dynamo",
    "EntityID",
    "EntityRelation",
    "EntityRole",
    "EntityStore",
    "IOEvent",
    "NoOpProfiler",
    "Other",
    "OtherEvent",
    "P",
    "Pipeline",
    "PipelineEvent",
    "ProfileCategory",
    "ProfilerProtocol",
    "R",
    "StringEnum",
    "T",
    "TagDType",
    "TagType",
    "TagValue",
    "TagValueTuple",
    "__version__",
    "ai",
    "capture_signal",
    "checkpoint",
    "comm",
    "compute",
    "create_backend",
    "data",
    "dataloader",
    "device",
    "dft_fn",
    "dftracer",
    "dftracer_dynamo_backend",
    "dynamo",
    "get_default_args",
    "get_iter_block_name",
    "get_iter_handle_name",
    "get_time_scale",
    "logger",
    "pipeline",
    "profiler",
    "setup_logger",
    "setup_stream_logger",
]
COMMON = [
    "dftracer",
    "dft_fn",
    "TagValue",
    "TagDType",
    "TagType",
    "TagValueTuple",
    "EntityStore",
    "EntityRole",
    "EntityRelation",
    "EntityID",
    "NoOpProfiler",
    "ProfilerProtocol",
    "profiler",
    "get_default_args",
    "get_time_scale",
    "setup_logger",
    "capture_signal",
    "P",
    "R",
    "T",
]
ENV = [
    "DFTRACER_ENABLE",
    "DFTRACER_INIT_PRELOAD",
    "DFTRACER_LOG_LEVEL",
    "DFTRACER_ENABLE_ENV",
    "DFTRACER_INIT_ENV",
    "DFTRACER_LOG_LEVEL_ENV",
    "DFTRACER_TIME_METRIC_ENV",
    "setup_stream_logger",
]
TREE = ["ai", "comm", "compute", "data", "dataloader", "device", "checkpoint", "pipeline"]
AI_COMMON = [
    "DFTracerAI",
    "AI",
    "Compute",
    "Data",
    "DataLoader",
    "Communication",
    "Device",
    "Checkpoint",
    "Pipeline",
    "Other",
    "IO",
    "StringEnum",
    "ProfileCategory",
    "ComputeEvent",
    "DataEvent",
    "DataLoaderEvent",
    "CommunicationEvent",
    "DeviceEvent",
    "PipelineEvent",
    "CheckpointEvent",
    "OtherEvent",
    "IOEvent",
    "INIT_NAME",
    "BLOCK_NAME",
    "ITER_NAME",
    "ITER_COUNT_NAME",
    "CTX_SEPARATOR",
    "ROOT_NAME",
    "ROOT_CAT",
    "START_METADATA_NAME",
    "STOP_METADATA_NAME",
    "get_iter_block_name",
    "get_iter_handle_name",
]
NATIVE = [
    "initialize",
    "finalize",
    "get_time",
    "get_config",
    "enter_event",
    "exit_event",
    "log_event",
    "log_metadata_event",
    "set_app_metadata_int",
    "set_app_metadata_string",
    "mark_used",
    "declare_entity",
    "declare_entity_type",
    "relate_entities",
]
PATHS = {
    "dftracer.python": PACKAGE,
    "dftracer.python.common": COMMON,
    "dftracer.python.env": ENV,
    "dftracer.python.logger": COMMON + ENV,
    "dftracer.python.ai_common": AI_COMMON,
    "dftracer.python.ai": TREE,
    "dftracer.python.ai_init": TREE,
    "dftracer.python.dynamo": ["Dynamo", "dynamo", "create_backend"],
    "dftracer.python.dbg": PACKAGE,
    "dftracer.python.dbg.ai": TREE,
    "dftracer.python.dbg.logger": COMMON + ENV,
    "dftracer.dftracer": NATIVE,
    "dftracer.dftracer_dbg": NATIVE,
    "dftracer.logger": PACKAGE,
}


@pytest.mark.parametrize("enable", ["0", "1"])
def test_every_path_has_its_names(tmp_path, enable):
    lines = [f"from {path} import {', '.join(names)}" for path, names in PATHS.items()]
    run("\n".join(lines), tmp_path, DFTRACER_ENABLE=enable)


def test_star_imports_have_their_names(tmp_path):
    """Each path gives everything of the ones below it, as if all were written there."""
    below = {
        "dftracer.python": PACKAGE,
        "dftracer.python.common": COMMON + ENV,
        "dftracer.python.logger": [*COMMON, *ENV, "logger"],
        "dftracer.python.ai_common": AI_COMMON + COMMON + ENV,
        "dftracer.python.ai": TREE + AI_COMMON + COMMON + ENV,
        "dftracer.python.ai_init": TREE + AI_COMMON + COMMON + ENV,
        "dftracer.python.dbg": PACKAGE,
        "dftracer.python.dbg.ai": TREE + AI_COMMON + COMMON + ENV,
        "dftracer.python.dbg.logger": [*COMMON, *ENV, "logger"],
        "dftracer.logger": PACKAGE,
    }
    lines = ["import dftracer.python as package"]
    for path, names in below.items():
        lines += ["found = {}", f"exec('from {path} import *', found)"]
        names = [name for name in names if name != "__version__"]
        lines += [f"for name in {names}: assert found[name] is getattr(package, name), ({path!r}, name)"]
    run("\n".join(lines), tmp_path)


def test_paths_share_one_tree_and_one_class(tmp_path):
    run(
        """
        import importlib, logging, sys
        import dftracer.python
        importlib.reload(sys.modules["dftracer.python.logger"])  # there without an import of its own
        import dftracer.python.dynamo, dftracer.python.logger, dftracer.python.ai
        import dftracer.python as package
        import dftracer.logger as old
        from dftracer.python import ai, dft_fn, dftracer, compute
        from dftracer.python.dbg import ai as debug_ai
        from dftracer.python.dynamo import Dynamo
        assert package.ai is ai is old.ai is debug_ai is sys.modules["dftracer.python.ai"].ai and compute is ai.compute
        assert isinstance(package.dynamo, Dynamo) and isinstance(package.logger, logging.Logger)
        module = sys.modules["dftracer.python.logger"]
        importlib.reload(module)
        assert module.dft_fn is dft_fn and module.dftracer is dftracer and isinstance(package.logger, logging.Logger)
        assert len(package.logger.handlers) == 1
        assert package.__version__ == "5.0.0"
        """,
        tmp_path,
    )


def test_dftracer_is_a_namespace_that_others_may_use(tmp_path):
    (tmp_path / "dftracer" / "utils").mkdir(parents=True)
    (tmp_path / "dftracer" / "utils" / "__init__.py").write_text("here = 1")
    run(
        """
        import sys
        sys.path.append(sys.argv[1])
        import dftracer.python, dftracer.utils
        assert dftracer.utils.here == 1 and not hasattr(dftracer, "__version__") and dftracer.__file__ is None
        """,
        tmp_path,
    )


def test_import_loads_little_and_installs_nothing(tmp_path):
    run(
        """
        import signal, sys, threading
        known = set(sys.modules)
        before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGABRT)]
        import dftracer.python
        heavy = {"torch", "typing", "re", "logging", "inspect", "multiprocessing", "numpy"}
        loaded = heavy & (set(sys.modules) - known)
        assert not loaded, loaded
        assert before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGABRT)]
        assert threading.active_count() == 1
        """,
        tmp_path,
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.py"]


@pytest.mark.parametrize(
    ("text", "on"), [("1", True), ("true", True), ("on", True), ("yes", True), ("0", False), ("", False)]
)
def test_switch_follows_the_rule_of_the_core(tmp_path, text, on):
    run(
        f"""
        import os
        from dftracer.python import DFTRACER_ENABLE, NoOpProfiler, profiler
        import dftracer.dftracer as native
        assert DFTRACER_ENABLE is {on}
        assert isinstance(profiler, NoOpProfiler) is {not on} and (profiler is native) is {on}
        """,
        tmp_path,
        DFTRACER_ENABLE=text,
    )


def test_switches_are_read_at_the_import_and_by_initialize_log(tmp_path):
    run(
        """
        import os, sys
        import dftracer.dftracer as native
        from dftracer.python import DFTRACER_INIT_PRELOAD, DFTRACER_LOG_LEVEL, NoOpProfiler, ai, dft_fn, dftracer
        import dftracer.python as package
        assert DFTRACER_INIT_PRELOAD and DFTRACER_LOG_LEVEL == "INFO"
        @ai.compute.forward
        def before(): pass
        os.environ["DFTRACER_ENABLE"] = "1"
        with ai.compute: pass
        assert isinstance(package.profiler, NoOpProfiler) and dftracer.get_instance().get_time() == 0
        log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
        assert package.profiler is native and package.DFTRACER_ENABLE and native._enabled and log.get_time()
        @ai.compute.backward
        def after(): pass
        before(); after()
        with ai.compute.step(step=3): pass
        with dft_fn("c", "block") as f: f.update(epoch=2)
        for _ in ai.dataloader.fetch.iter([1]): pass
        os.environ["DFTRACER_ENABLE"] = "0"
        log.finalize()
        dftracer.initialize_log(sys.argv[1] + "/y.pfw")
        after()
        """,
        tmp_path,
        DFTRACER_ENABLE="0",
        DFTRACER_LOG_LEVEL="INFO",
    )
    assert run.stderr.startswith("[INFO] tracing is")
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("[ERROR]")]
    assert "functions decorated before initialize_log stay silent (1 of them)" in line
    (trace,) = traces_of(tmp_path)
    events = [(event["name"], arguments_of(event)) for event in trace.user_events()]
    assert [name for name, _ in events] == ["backward", "step", "block", "fetch.iter", "fetch.block"]
    assert events[1:3] == [("step", {"step": 3}), ("block", {"epoch": 2})]


@pytest.mark.parametrize(("metric", "scale"), [("NS", 1e9), ("US", 1e6), ("MS", 1e3), ("SEC", 1), ("", 1e6)])
def test_time_scale_is_units_a_second(tmp_path, metric, scale):
    run(
        f"""
        import sys, time
        from dftracer.python import dftracer, get_time_scale
        log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
        assert get_time_scale() == {scale}
        assert abs(log.get_time() / {scale} - time.time()) < 2
        """,
        tmp_path,
        DFTRACER_TIME_METRIC=metric,
    )


if __name__ == "__main__":
    main(__file__)
