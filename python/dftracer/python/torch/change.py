"""change.py - what trace() replaces in torch and in the program, until its last user undoes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary, ref

if TYPE_CHECKING:
    from collections.abc import Callable


class Change:
    """A replaced function or attribute of torch or of the program; it records until its last user undoes it.

    The recording function holds the change, but the change holds no reference to the owner. So the owner is freed as
    without tracing, even if nobody undoes the change, and does not wait for the garbage collector, which would keep the
    memory of a device in use.
    """

    made: ClassVar[WeakValueDictionary[tuple[int, str], Change]] = WeakValueDictionary()
    undo: Callable[[], None]

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = ref(owner), name
        self.key = (id(owner), name)
        self.users = 0

    @classmethod
    def use(cls, owner: Any, name: str, make: Callable[[Change, Any], Callable[[], None]]) -> Callable[[], None]:
        """Returns a function that ends this use. `make` changes the owner and returns a function that undoes it."""
        change = cls.made.get((id(owner), name))
        if change is None or change.owner() is not owner:
            change = cls(owner, name)
            change.undo = make(change, owner)
            cls.made[change.key] = change
        change.users += 1
        return change.leave

    def leave(self) -> None:
        """Ends one use."""
        self.users -= 1
        if self.users == 0:
            if Change.made.get(self.key) is self:
                del Change.made[self.key]
            self.undo()


def put(change: Change, name: str, traced: Any) -> Callable[[], None]:
    """Sets an attribute of the owner. If somebody else replaces it later, undo leaves that in place."""
    own = vars(change.owner())  # not setattr, which a compiled model passes on to its inner model
    before = {name: own[name]} if name in own else {}
    own[name] = traced

    def undo() -> None:
        owner = change.owner()
        if owner is not None and vars(owner).get(name) is traced:
            del vars(owner)[name]
            vars(owner).update(before)

    return undo


def put_method(change: Change, traced: Any) -> Callable[[], None]:
    """The same for a method of a class."""
    kind, name = change.owner(), change.name
    before = vars(kind).get(name)
    setattr(kind, name, traced)

    def undo() -> None:
        kind = change.owner()
        if kind is None or vars(kind).get(name) is not traced:
            return
        if before is None:
            delattr(kind, name)
        else:
            setattr(kind, name, before)

    return undo


def finder(thing: Any, at_end: Callable[[Any], Any] | None = None) -> Callable[[], Any]:
    """A weak reference, if the object allows that; otherwise one that keeps it."""
    try:
        return ref(thing, at_end)
    except TypeError:
        return lambda: thing


class ByIdentity:
    """Values of objects, which need no hash. An object that can be referenced weakly is not kept alive."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Callable[[], Any], Any]] = {}

    def set(self, thing: Any, value: Any) -> None:
        """Keeps the value for as long as the object exists."""
        key, entries = id(thing), self._entries
        entries[key] = finder(thing, lambda gone: entries[key][0] is gone and entries.pop(key)), value

    def __len__(self) -> int:
        return len(self._entries)

    def things(self) -> list[Any]:
        """The objects that still exist."""
        return [thing for find, _ in list(self._entries.values()) if (thing := find()) is not None]

    def get(self, thing: Any, default: Any = None) -> Any:
        """The value of the object."""
        find, value = self._entries.get(id(thing), (None, None))
        return value if find is not None and find() is thing else default

    def pop(self, thing: Any) -> None:
        """Forgets the object."""
        if self.get(thing) is not None:
            del self._entries[id(thing)]

    def count(self, thing: Any, more: int) -> None:
        """For numbers of uses; 0 uses forget the object."""
        uses = self.get(thing, 0) + more
        if uses > 0:
            self.set(thing, uses)
        else:
            self.pop(thing)

    def clear(self) -> None:
        """Forgets all."""
        self._entries.clear()
