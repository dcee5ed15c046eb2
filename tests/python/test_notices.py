"""test_notices.py - what would silently record nothing prints one line, which names the remedy; nothing else prints."""

import os
import pathlib

import pytest
from harness import main, run, traces_of


def lines_of(program, folder, **changes):
    run(program, folder, **changes)
    return run.stderr.splitlines()


ANNOTATED = {
    "block": "with ai.compute: pass",
    "decorator": "ai.compute.forward(print)",
    "loop": "list(ai.dataloader.fetch.iter([1]))",
    "loop of dft_fn": "list(dft_fn('c').iter([1]))",
    "start": "ai.compute.start()",
}


@pytest.mark.parametrize("use", ANNOTATED)
def test_forgotten_initialize_log(tmp_path, use):
    program = f"from dftracer.python import ai, dft_fn\n{ANNOTATED[use]}\n"
    (line,) = lines_of(program, tmp_path)
    assert "did not call dftracer.initialize_log()" in line
    assert not lines_of(program, tmp_path, DFTRACER_ENABLE="0")


def test_a_program_without_annotations_forgets_nothing(tmp_path):
    assert not lines_of("from dftracer.python import ai, dft_fn, dftracer\n", tmp_path)


def test_second_initialize_log(tmp_path):
    program = """
        from dftracer.python import ai, dftracer
        log = dftracer.initialize_log("a.pfw")
        dftracer.initialize_log("a.pfw")            # the same cell of a notebook again
        dftracer.initialize_log()
        if {}: dftracer.initialize_log("b.pfw")
        with ai.compute: pass
        log.finalize()
        dftracer.initialize_log("c.pfw")
        with ai.compute: pass
    """
    (line,) = lines_of(program.format(True), tmp_path)
    assert "initialize_log('b.pfw') is ignored" in line and "/a.pfw' is open" in line and "finalize()" in line
    assert [pathlib.Path(trace.path).name for trace in traces_of(tmp_path)] == ["a.pfw", "c.pfw"]
    assert not lines_of(program.format(False), tmp_path)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("there", None),
        ("all", None),
        ("there:there/within", None),
        ("~/there", None),
        ("nowhere", "/nowhere does not exist; check its name"),
        ("there:nowhere", "/nowhere does not exist; check its name"),
        ("there,there", "/there,there does not exist; put ':' between folders, not ','"),
    ],
)
def test_data_dir_that_does_not_exist(tmp_path, given, told):
    (tmp_path / "there" / "within").mkdir(parents=True)
    program = f"from dftracer.python import dftracer\ndftracer.initialize_log('x.pfw', {given!r}).finalize()\n"
    lines = lines_of(program, tmp_path, HOME=str(tmp_path))
    if told:
        (line,) = lines
        assert line.endswith(told)
    else:
        assert not lines
    assert not lines_of(program, tmp_path, DFTRACER_ENABLE="0")


def test_messages_go_to_what_stderr_is_then(tmp_path):
    """As with pytest, which closes the streams that it puts there."""
    program = """
        import io, sys
        from dftracer.python import setup_stream_logger
        own, sys.stderr = sys.stderr, io.StringIO()
        setup_stream_logger().error("one")
        assert sys.stderr.getvalue() == "[ERROR] one\\n"
        sys.stderr.close()
        setup_stream_logger().error("two")
        sys.stderr = own
        setup_stream_logger().error("three")
        """
    assert lines_of(program, tmp_path) == ["[ERROR] three"]


def test_home_expands(tmp_path):
    (tmp_path / "data").mkdir()
    run(
        """
        import sys
        from dftracer.python import dftracer
        log = dftracer.initialize_log("~/out/x.pfw", "/nowhere:~/data")
        open(sys.argv[1] + "/data/file", "w").close()
        log.finalize()
        """,
        tmp_path,
        HOME=str(tmp_path),
        DFTRACER_DISABLE_IO="0",
    )
    (trace,) = traces_of(tmp_path / "out")
    assert os.fspath(tmp_path / "data" / "file") in trace.values("FH", "name")


if __name__ == "__main__":
    main(__file__)
