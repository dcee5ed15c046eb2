"""test_class.py - the class dftracer, its files, and the native module's calls."""

import pytest
from harness import arguments_of, main, one, record, run, traces_of


def test_class_does_what_its_table_says(tmp_path):
    trace = one(
        """
        import dftracer.dftracer as native
        assert log is dftracer.get_instance() and type(log).__name__ == "dftracer" and log.logger is native
        assert log.start_time > 10**15 and log.get_config("DFTRACER_TIME_METRIC") == "US"
        assert log.get_config("DFTRACER_ENABLE") == "1" and log.get_config("NO_SUCH") == ""
        assert log.enter_event() == 0 and log.enter_event() == 1
        log.exit_event(), log.exit_event()
        now = log.get_time()
        log.log_event("n", "c", now, 50, {"i": (0, 1)}, {"f": (0, 0.5)}, {"s": (0, "t")})
        log.log_event("plain", "c", now, 50, {"i": 2**62}, {"f": 1/3}, {"s": 'a "quote"'})
        log.log_event("empty", "c", now, 0)
        log.log_metadata_event("key", "value")
        log.set_app_metadata_int("workers", 3); log.set_app_metadata_int("workers", 4)
        log.set_app_metadata_string("model", "m")
        log.mark_used("layer")
        log.finalize(); log.finalize()
        log.log_event("late", "c", now, 50)
        assert log.get_time() == 0
        """,
        tmp_path,
        overlap=True,
    )
    assert arguments_of(trace.named("n")[0]) == {"i": 1, "f": 0.5, "s": "t"}
    assert arguments_of(trace.named("plain")[0]) == {"i": 2**62, "f": 1 / 3, "s": 'a "quote"'}
    assert trace.named("n")[0]["dur"] == 50
    assert not trace.named("late")
    assert [event["args"]["value"] for event in trace.named("CM") if event["args"]["name"] == "key"] == ["value"]
    end = trace.end["args"]
    assert (end["app.workers"], end["app.model"], end["used.layer"], end["used.python_function"]) == (4, "m", 1, 1)


def test_before_initialisation_everything_works_and_nothing_is_recorded(tmp_path):
    traces = record(
        """
        import sys
        from dftracer.python import ai, dft_fn, dftracer
        log = dftracer.get_instance()
        assert log.logger is None and log.get_time() == 0 and log.get_config("DFTRACER_ENABLE") == ""
        assert log.enter_event() is None and log.declare_entity("t", "k") == 0
        log.log_event("n", "c", 100, 50, {"arg": "value"})
        with ai.compute, dft_fn("c"): pass
        log.finalize()
        """,
        tmp_path,
        start=False,
    )
    assert traces == []


@pytest.mark.parametrize(
    "call",
    [
        "initialize_log(path, None, -1)",
        "initialize_log(logfile=path, data_dir=None, process_id=None)",
        "initialize_log(log_file=path)",
        "initialize_log(pathlib.Path(path), pathlib.Path('/tmp'), 3)",
    ],
)
def test_forms_of_initialize_log(tmp_path, call):
    trace = one(
        f"""
        import pathlib, sys
        from dftracer.python import ai, dftracer
        path = sys.argv[1] + "/deep/er/x.pfw"
        dftracer.{call}
        with ai.compute: pass
        dftracer.get_instance().finalize()
        """,
        tmp_path,
        start=False,
    )
    assert trace.path == f"{tmp_path}/deep/er/x.pfw"


def test_second_initialize_is_ignored_and_a_trace_after_finalize_is_a_new_one(tmp_path):
    traces = record(
        """
        assert dftracer.initialize_log(sys.argv[1] + "/y.pfw") is log
        with ai.compute.forward: pass
        log.finalize()
        again = dftracer.initialize_log(sys.argv[1] + "/z.pfw")
        with ai.compute.backward: pass
        again.finalize()
        """,
        tmp_path,
    )
    assert [trace.path.rsplit("/", 1)[1] for trace in traces] == ["x.pfw", "z.pfw"]
    assert traces[0].named("forward") and traces[1].named("backward")


def test_a_name_used_again_by_one_process_keeps_both_traces(tmp_path):
    traces = record(
        """
        for name in "first", "second":
            log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
            with dft_fn("c", name): pass
            log.finalize()
        """,
        tmp_path,
    )
    assert {trace.path.rsplit("/", 1)[1]: len(trace.named("first")) for trace in traces} == {"x.pfw": 1, "x-2.pfw": 0}


@pytest.mark.parametrize("ending", ["", "sys.exit(3)", "raise KeyError('k')", "import os; os._exit(4)"])
def test_nothing_is_lost_without_finalize(tmp_path, ending):
    status = {"": 0, "sys.exit(3)": 3, "raise KeyError('k')": 1}.get(ending, 4)
    record("for i in range(100):\n    with ai.compute: pass\n" + ending, tmp_path, status=status)
    run(
        """
        from dftracer.python import dftracer
        import sys
        dftracer.initialize_log(sys.argv[1] + "/later.pfw").finalize()
        """,
        tmp_path,
    )  # what died is published by who comes next
    assert [len(trace.named("compute")) for trace in traces_of(tmp_path)] == [100]


def test_prefix_of_the_environment_and_its_folder(tmp_path):
    trace = one(
        """
        from dftracer.python import ai, dftracer
        log = dftracer.initialize_log()
        with ai.compute: pass
        log.finalize()
        """,
        tmp_path,
        start=False,
        DFTRACER_LOG_FILE=f"{tmp_path}/new/pre",
    )
    assert "/new/pre-" in trace.path and trace.path.endswith("-app.pfw")


def test_unwritable_place_is_told_and_the_program_goes_on(tmp_path):
    run(
        """
        from dftracer.python import ai, dftracer
        log = dftracer.initialize_log("/proc/no/such/x.pfw")
        with ai.compute: pass
        log.finalize()
        print("done")
        """,
        tmp_path,
    )
    assert run.stderr.count("\n") == 1 and "/proc/no/such" in run.stderr


def test_native_module_takes_what_layers_pass(tmp_path):
    trace = one(
        """
        import sys
        import dftracer.dftracer as native
        native.initialize(log_file=sys.argv[1] + "/x.pfw", data_dirs=None, process_id=-1)
        assert native.enter_event() == 0
        now = native.get_time()
        native.log_event(name="inner", cat="c", start_time=now, duration=5, int_args={"i": (0, 7)},
                         string_args={"s": (1, "x")}, float_args={"f": (2, 1.5)})
        native.exit_event()
        native.log_event("plain", "c", float(now), 6.0, {"i": 2**63, "big": 2**70, "none": None, "t": True},
                         {"s": b"bytes"}, {"inf": float("inf"), "nan": float("nan"), "int": 3})
        native.log_event("odd", "c", "no time", -5, {"text": "12"}, None, None)
        native.log_event("surrogate \\udc80", "c", now, 0, {"\\udc81": 1}, {"s": "\\ud800"})
        native.log_metadata_event("k", 5)
        native.set_app_metadata_int("k", 2**70)
        native.mark_used("x")
        for wrong in ((), ("n",), ("n", "c", 1)):
            try: native.log_event(*wrong)
            except TypeError: pass
            else: raise AssertionError
        native.finalize(); native.finalize()
        native.log_event("late", "c", now, 1)
        """,
        tmp_path,
        start=False,
        overlap=True,
    )
    assert arguments_of(trace.named("inner")[0]) == {"i": 7, "s": "x", "f": 1.5}
    plain = arguments_of(trace.named("plain")[0])
    assert plain["i"] == 2**63 and plain["big"] == str(2**70) and plain["t"] == 1 and "none" not in plain
    assert plain["int"] == 3 and plain["s"] == "b'bytes'"
    assert trace.named("plain")[0]["dur"] == 6
    assert not trace.named("late") and trace.end["args"]["app.k"] == str(2**70)


def test_stand_in_gets_every_call(tmp_path):
    run(
        """
        from unittest.mock import MagicMock
        from dftracer.python import EntityRelation, EntityStore, ai, dft_fn, dftracer
        tracer = dftracer.get_instance()
        before = tracer.logger
        logger = MagicMock()
        logger.get_time.return_value = 5
        logger.declare_entity.side_effect = [11, 22]
        tracer.logger = logger
        with dft_fn("c", name="n", epoch=3) as f:
            f.uses("raw", "s"); f.generates("out", "o", EntityStore.PARALLEL_FS, "/p")
        call = logger.log_event.call_args[1]
        assert call["name"] == "n" and call["int_args"] == {"epoch": (0, 3)}
        assert call["relations"] == {EntityRelation.USED: [11], EntityRelation.GENERATED: [22]}, call
        logger.declare_entity.assert_called_with("out", "o", 3, "/p")
        logger.log_event.reset_mock()
        ai.compute.forward(lambda: None)()
        for _ in ai.dataloader.fetch.iter(range(2)): pass
        dft_fn("c", name="m").reset().flush()
        names = [call[1]["name"] for call in logger.log_event.call_args_list]
        assert names == ["forward", "fetch.iter", "fetch.block", "fetch.iter", "fetch.block", "m"], names
        dft_fn("c").log_metadata("k", "v")
        logger.log_metadata_event.assert_called_once_with(key="k", value="v")
        ai.pipeline.epoch.start(metadata=True)
        assert logger.log_metadata_event.call_args[1] == {"key": "epoch.start", "value": "5"}
        tracer.logger = MagicMock(spec=["log_event", "get_time"])
        assert tracer.declare_entity("t", "k") == 0 and not tracer._has("declare_entity")
        tracer.logger = before
        with ai.compute: pass
        """,
        tmp_path,
    )


def test_profiler_may_be_patched_and_blocks_outlive_a_trace(tmp_path):
    traces = record(
        """
        import sys
        from unittest.mock import patch
        from dftracer.python import ai, dftracer
        with patch("dftracer.python.common.profiler") as stand_in:
            log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
            with ai.compute: pass
            stand_in.initialize.assert_called_once()
            stand_in.log_event.assert_called_once()
        log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
        with ai.compute.forward:
            with ai.data: log.finalize()
        log = dftracer.initialize_log(sys.argv[1] + "/y.pfw")
        with ai.compute.backward: pass
        log.finalize()
        """,
        tmp_path,
        start=False,
    )
    names = [sorted(event["name"] for event in trace.user_events()) for trace in traces]
    assert names == [["data", "forward"], ["backward"]]  # regions open at the end are recorded as open
    assert [event["args"]["open"] for event in traces[0].user_events()] == [1, 1]


def test_capture_signal_looks_the_class_up_when_called(tmp_path):
    run(
        """
        from unittest.mock import MagicMock, patch
        from dftracer.python.common import capture_signal
        with patch("dftracer.python.common.dftracer") as tracer, patch("sys.exit") as leave:
            capture_signal(2, None)
            tracer.get_instance.return_value.finalize.assert_called_once()
            leave.assert_called_once_with(2)
        with patch("dftracer.python.common.profiler"): pass
        """,
        tmp_path,
    )


if __name__ == "__main__":
    main(__file__)
