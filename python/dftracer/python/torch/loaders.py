"""loaders.py - the fetches of loaders of any class.

The methods __iter__ and __next__ are replaced in classes, and record for the loaders that were given to trace().
Frameworks make new loaders of a given one, so a loader of a known class over the same dataset records as well. Loaders
wrap loaders: what the program waits for is the outermost one, and only that one records, even if a thread in the
background loops over the inner one.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from typing import TYPE_CHECKING, Any

import dftracer.python.helpers  # noqa: F401 - not in the middle of the first fetch
from dftracer.python.ai_init import ai
from dftracer.python.batches import Ahead, OneByOne, batches_of
from dftracer.python.env import native
from dftracer.python.torch.change import ByIdentity, Change, finder, put_method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_loaders = ByIdentity()  # how often each was added
_datasets = ByIdentity()  # the same for their datasets
_inner = ByIdentity()  # iterators of torch's that an outer loader made for itself
_loops = ByIdentity()  # of iterators that record by themselves: what is recorded for them


class Observer:
    """Lets all loaders record."""

    def is_ready(self) -> bool:
        """Whether it does now."""
        raise NotImplementedError

    def loop_begins(self, loader: Any) -> Callable[[Any, Any], Any]:
        """Returns a function that makes the program's iterator of the one that records, and of that one's."""
        raise NotImplementedError


observer: Observer | None = None


class _Within(threading.local):
    depth = 0  # in the start of an outermost loader, or in a fetch of a thread in the background


_within = _Within()


def is_loading() -> bool:
    """Whether this thread fetches a batch, or starts a loader."""
    return _within.depth > 0 or native._fetching() is not None


def _dataset_of(loader: Any) -> Any:
    try:
        dataset = loader.dataset
        return dataset.dataset if type(dataset).__name__ == "IterableDatasetShard" else dataset  # accelerate's
    except Exception:
        return None


def _is_traced(loader: Any) -> bool:
    is_observed = observer is not None and observer.is_ready()
    return is_observed or bool(_loaders.get(loader) or _datasets.get(_dataset_of(loader)))


def _new_loop(iterator: Any, loader: Any, fetched: Any = 0) -> Any:
    """Frameworks ask for as many batches as the loader has, and no more: the last one is no break then."""
    loop = ai.dataloader.fetch.iter(iterator)
    loop._watch(ai.dataloader.fetch.derive("end"), None)
    try:
        expected = len(loader) - fetched
    except Exception:
        expected = 0
    loop._expect(expected, _samples_of(loader, expected > 0))
    return loop


def _samples_of(loader: Any, has_length: bool) -> Any:
    try:
        from dftracer.python.torch.samples import samples_of  # needs torch

        return samples_of(loader, has_length)
    except Exception:
        return None


@contextlib.contextmanager
def part(name: str) -> Iterator[None]:
    """The start of an outermost loader and its workers (`init`), or its end."""
    _within.depth += 1
    try:
        with ai.dataloader.fetch.derive(name):
            yield
    finally:
        _within.depth -= 1


def _start(loader: Any, before: Callable[[Any], Any]) -> Any:
    """The iterator of an outermost loader."""
    observed = observer.loop_begins(loader) if observer is not None else None
    with part("init"):
        iterator = before(loader)
    if iterator is not loader:
        loop = _new_loop(iterator, loader)
        return observed(loop, iterator) if observed is not None else loop
    _loops.pop(loader)
    _loops.set(loader, _new_loop((), loader))
    return loader


def _runs_ahead(loader: Any) -> bool:
    """Whether a traced loader loops over this one, in a thread of its own."""
    if _loaders.get(loader) or threading.current_thread() is threading.main_thread():
        return False
    holders = [getattr(one, "__dict__", {}) for one in _loaders.things()]
    return any(value is loader for own in holders for value in list(own.values()))


def _fetch_ahead(iterator: Any, before: Callable[[Any], Any]) -> Any:
    """In a thread in the background: the outer loader's loop records, on another thread."""
    _within.depth += 1
    try:
        return before(iterator)
    finally:
        _within.depth -= 1


def _watch_inner(outer: Any, iterator: Any, wrapper: Any) -> None:
    """Lets the loop over a wrapper tell the batches of the iterator inside."""
    kind = type(wrapper)
    if kind.__module__ == "accelerate.data_loader":
        state = getattr(wrapper, "state", None)
        is_split = "Dispatcher" in kind.__name__ and getattr(state, "num_processes", 1) != 1
        batches = None if is_split else batches_of(iterator, Ahead, getattr(wrapper, "skip_batches", 0))
    else:
        batches = batches_of(iterator, OneByOne)
    outer._watch(None, batches)


def _replace_iter(change: Change, kind: Any) -> Callable[[], None]:
    before = kind.__iter__

    @functools.wraps(before)
    def traced(self: Any) -> Any:
        if not change.users or not _is_traced(self):
            return before(self)
        outer = native._fetching()
        if outer is None and not _within.depth and not _runs_ahead(self):
            return _start(self, before)
        iterator = before(self)
        if "_dataset" in getattr(iterator, "__dict__", {}):
            _inner.set(iterator, True)
        if outer is not None:
            _watch_inner(outer, iterator, sys._getframe(1).f_locals.get("self"))
        return iterator

    return put_method(change, traced)


def _replace_next(change: Change, kind: Any) -> Callable[[], None]:
    """Of loaders that are their own iterators, and of torch's iterators: some exist when tracing begins."""
    before = kind.__next__

    def loop_of(iterator: Any) -> Any:
        loop = _loops.get(iterator)
        dataset = getattr(iterator, "__dict__", {}).get("_dataset")
        if loop is None and (_loaders.get(iterator) or _datasets.get(dataset)):
            loop = _new_loop((), iterator, getattr(iterator, "_num_yielded", 0))
            loop._watch(None, batches_of(iterator))
            _loops.set(iterator, loop)
        return loop

    @functools.wraps(before)
    def traced(self: Any) -> Any:
        if not change.users or is_loading():
            return before(self)
        if _inner.get(self):
            return _fetch_ahead(self, before)
        loop = loop_of(self)
        if loop is None:
            return before(self)
        try:
            return loop._turn(before, self)
        except StopIteration:
            _loops.pop(self)
            raise

    return put_method(change, traced)


def _definer(kind: type, name: str) -> type:
    """The class whose method it is, if that can be changed."""
    for one in kind.__mro__:
        if name in vars(one):
            return one if one.__flags__ & _IS_HEAP_TYPE else kind
    raise TypeError(f"its class has no {name}")


_IS_HEAP_TYPE = 1 << 9


def _known_classes() -> Iterator[tuple[type, str]]:
    """Those of which frameworks make a new loader, and those of their iterators."""
    from torch.utils.data import DataLoader, dataloader

    yield DataLoader, "__iter__"
    iterator: Any = getattr(dataloader, "_BaseDataLoaderIter", None)
    if "__next__" in vars(iterator or object):
        yield iterator, "__next__"
    accelerate: Any = sys.modules.get("accelerate.data_loader")
    adapter: Any = getattr(accelerate, "DataLoaderAdapter", None)
    for kind in vars(accelerate).values() if adapter else ():
        if isinstance(kind, type) and issubclass(kind, adapter) and "__iter__" in vars(kind):
            yield kind, "__iter__"


def add_class(kind: type, use: Callable[[Any, str, Any], None]) -> None:
    """Loaders of this class, for the observer."""
    use(_definer(kind, "__iter__"), "__iter__", _replace_iter)


def add(loader: Any, use: Callable[[Any, str, Any], None]) -> Callable[[], None]:
    """`use` makes a change that an undo of the caller takes back; returns a function that undoes the rest."""
    kind, dataset = type(loader), _dataset_of(loader)
    changes = {(_definer(kind, "__iter__"), "__iter__")}
    if hasattr(kind, "__next__"):
        changes.add((_definer(kind, "__next__"), "__next__"))
    if dataset is not None and "torch" in sys.modules:
        changes.update(_known_classes())
    for owner, name in changes:
        use(owner, name, _replace_iter if name == "__iter__" else _replace_next)
    _loaders.count(loader, 1)
    if dataset is not None:
        _datasets.count(dataset, 1)
    find_loader, find_dataset = finder(loader), finder(dataset)

    def undo() -> None:
        for known, find in ((_loaders, find_loader), (_datasets, find_dataset)):
            thing = find()
            if thing is not None:
                known.count(thing, -1)
        if not _loaders:
            _loops.clear()
            _inner.clear()

    return undo
