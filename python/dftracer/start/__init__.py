"""start - notices when a program imports a framework, and then patches it. Nothing else is imported before that.

Started by the file dftracer.pth of the wheel, by the sitecustomize.py of this folder (dftracer run), or by an entry
point of Lightning; only if DFTRACER_ENABLE is on. To add a framework: rows here, and a module
dftracer.python.frameworks.NAME with a function patch(module).
"""

import os
import sys

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

# A module whose import is noticed -> the framework, as DFTRACER_FRAMEWORKS names it.
WATCHED = {
    "torch": "torch",
    "torch.distributed.checkpoint": "torch",
    "safetensors.torch": "torch",
    "accelerate.data_loader": "accelerate",
    "accelerate.accelerator": "accelerate",
    "lightning.pytorch": "lightning",
    "pytorch_lightning": "lightning",
    "lightning.fabric": "lightning",
    "lightning_fabric": "lightning",
    "transformers.trainer": "transformers",
    "keras": "keras",
    "deepspeed": "deepspeed",
}
OFF = ("", "0", "false", "off", "no")


ANNOTATED = "annotated"  # the value of DFTRACER_FRAMEWORKS that a program which annotates itself gives its children


def is_on(is_wanted: bool = False) -> bool:
    """Whether tracing is on, and frameworks are to be recorded; the program may want it by a callback."""
    chosen = os.environ.get("DFTRACER_FRAMEWORKS", "").strip().lower()
    is_chosen = chosen != "none" and (is_wanted or chosen != ANNOTATED)
    return os.environ.get("DFTRACER_ENABLE", "").strip().lower() not in OFF and is_chosen


class _Finder:
    """Finds a watched module as the other finders do, and gives its loader something to do afterwards."""

    def __init__(self) -> None:
        self.busy: set[str] = set()

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if name not in WATCHED or name in self.busy:
            return None
        self.busy.add(name)
        try:
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None)
                spec = find(name, path, target) if find is not None and finder is not self else None
                if spec is not None:
                    _extend(spec.loader)
                    return spec
            return None
        finally:
            self.busy.discard(name)


def _extend(loader: "Any") -> None:
    """The loader stays what it is: tools ask for its class, its source and its data files."""
    try:
        before = loader.exec_module

        def exec_module(module: "Any") -> None:
            del loader.exec_module
            before(module)
            patch(module.__name__)

        loader.exec_module = exec_module
    except Exception as error:
        _tell(getattr(loader, "name", "a framework"), error)


def patch(name: str) -> None:
    """Patches a module that has been imported. A failure is reported once and never reaches the program."""
    try:
        from dftracer.python import frameworks
    except ImportError:
        return  # another package of that name is in front of ours
    try:
        frameworks.patch(WATCHED[name], sys.modules[name])
    except Exception as error:
        _tell(name, error)


def _tell(name: str, error: Exception) -> None:
    print(f"dftracer: {name} is not traced: {type(error).__name__}: {error}", file=sys.stderr)


def start(is_wanted: bool = False, again: bool = False) -> None:
    """Watches imports from now on, and patches what is there already; `again` if that was undone."""
    if not is_on(is_wanted):
        return
    is_new = not _has_started()
    if is_new:
        sys.meta_path.insert(0, _Finder())
    for name in WATCHED if is_new or again else ():
        if name in sys.modules:
            patch(name)


def _has_started() -> bool:
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def _callbacks(package: str) -> "list[Any]":
    """None where trainers are patched: Lightning prints a line for each callback. This trainer is half made already."""
    if not is_on() or _has_started():
        return []
    start()
    try:
        from dftracer.python.frameworks import chosen, lightning

        return lightning.callbacks(package) if "lightning" in chosen() else []
    except Exception as error:
        _tell(package, error)
        return []


def lightning_callbacks() -> "list[Any]":
    """The entry point of lightning.pytorch: the callback of the first trainer, where nothing has started dftracer."""
    return _callbacks("lightning.pytorch")


def pytorch_lightning_callbacks() -> "list[Any]":
    """The same of the package pytorch_lightning."""
    return _callbacks("pytorch_lightning")


def fabric_callbacks() -> "list[Any]":
    """The entry point of Fabric, which is patched and needs no callback."""
    start()
    return []
