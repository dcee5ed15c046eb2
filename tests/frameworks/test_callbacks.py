"""test_callbacks.py - programs that open a trace themselves, and ask for the rest by a callback."""

import pytest
from frameworks_harness import environment, main, traces_of
from untouched import BATCHES, EXAMPLES, check, check_epochs, launch

OPENING = """
from dftracer.python import ai, dftracer
{ask}
log = dftracer.initialize_log("traces/own.pfw")
with ai.data.item: pass
"""
CALLBACKS = {  # -> example, module of the callback, what to replace in the example
    "lightning": ("lightning", "lightning", ()),
    "pytorch_lightning": ("lightning", "lightning", ("lightning.pytorch", "pytorch_lightning")),
    "keras": ("keras", "keras", ()),
}


def program_of(name, is_asked):
    """An example that opens a trace after its imports."""
    example, module, change = CALLBACKS[name]
    text = (EXAMPLES / f"train_{example}.py").read_text()
    text = text.replace(*change) if change else text
    ask = f"from dftracer.python.{module} import DFTracerCallback" if is_asked else ""
    text = text.replace("\n\n\nclass Slow", OPENING.format(ask=ask) + "\n\nclass Slow", 1)
    return text.replace("callbacks=[", "callbacks=[DFTracerCallback(), ") if is_asked else text


def run(name, folder, is_asked, **changes):
    (folder / "program.py").write_text(program_of(name, is_asked))
    done = launch(folder / "program.py", folder, **changes)
    assert "dftracer" not in done.stderr, done.stderr
    (trace,) = traces_of(folder / "traces")
    return trace


@pytest.mark.parametrize("name", CALLBACKS)
@pytest.mark.parametrize("is_started", [True, False])
def test_a_callback(tmp_path, name, is_started):
    """With the start folder, which has patched frameworks when they were imported, and without it."""
    trace = run(name, tmp_path, True, **({} if is_started else {"PYTHONPATH": environment()["PYTHONPATH"]}))
    check(trace, steps=BATCHES if name == "keras" else BATCHES // 2)
    check_epochs(trace)


@pytest.mark.parametrize("name", CALLBACKS)
def test_without_it_the_program_keeps_its_own_events(tmp_path, name):
    assert [event["name"] for event in run(name, tmp_path, False).user_events()] == ["item"]


if __name__ == "__main__":
    main(__file__)
