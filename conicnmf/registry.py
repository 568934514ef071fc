"""What is known by name: solvers, terms, losses, starts and data sets, ours and other packages'.

A package adds its own through an entry-point group, for example

    [project.entry-points."conicnmf.solvers"]
    Annealing = "my_package:Annealing"

and `explain`, `compare`, the command line and look-up by name see it like one of ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from conicnmf.errors import InputError
from conicnmf.settings import shown

T = TypeVar("T")
Thing = TypeVar("Thing")


class Registry(Generic[T]):
    """Things of one kind by name, in the order in which tables list them.

    Parameters
    ----------
    kind : str
        What a message calls one of them.
    group : str
        The entry-point group in which other packages name theirs.
    check : callable, optional
        Says what is wrong with a thing that a package brings, an empty text when nothing is.
    homes : tuple of str
        Modules that add theirs when they are imported, which the first look-up does.

    Examples
    --------
    >>> colors = Registry("color", "example.colors")
    >>> colors.add("Red", "#f00")
    >>> colors.find("red")
    '#f00'
    >>> colors.find("rod")
    Traceback (most recent call last):
    conicnmf.errors.InputError: no color is called 'rod'; did you mean Red? Choose one of Red
    """

    def __init__(
        self,
        kind: str,
        group: str,
        check: Callable[[Any], str] | None = None,
        homes: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.group = kind, group
        self._check, self._homes = check, homes
        self._known: dict[str, T] = {}
        self._short: dict[str, str] = {}  # other names that people use
        self._brought: dict[str, str] = {}  # what plugins brought, and from where
        self._loaded = False

    def add(self, name: str, thing: T, *others: str) -> None:
        """Make a thing known, by other names too; one that is taken by something else is refused.

        A plugin is dropped: it was loaded because somebody asked for a name, and what it collides
        with may belong to a part of this package that is imported later.
        """
        taken = self._match(name)
        if taken is not None and taken in self._brought and self._known[taken] is not thing:
            self._leave_out(taken, self._brought.pop(taken), f"{name!r} is a built-in name")
            del self._known[taken]
            taken = None
        if taken is not None and self._known[taken] is not thing:
            raise InputError(f"a {self.kind} called {taken!r} exists already; choose another name")
        self._known[taken or name] = thing
        self._short |= {_folded(other): name for other in others}

    def find(self, name: str) -> T:
        """Return what has this name; upper and lower case do not matter."""
        if not isinstance(name, str):
            raise InputError(
                f"the name of a {self.kind} is a string, got {shown(name)}; put it in quotes"
            )
        self._load_all()
        match = self._match(name)
        if match is not None:
            return self._known[match]
        folded = {_folded(known): known for known in self._known}
        near = get_close_matches(_folded(name), folded, n=1, cutoff=0.5)
        hint = f"did you mean {folded[near[0]]}? " if near else ""
        raise InputError(
            f"no {self.kind} is called {shown(name)}; {hint}Choose one of {', '.join(self._known)}"
        )

    def instance(self, thing: Any, base: type[Thing], example: str, name: str = "") -> Thing:
        """Return an object of a registered class, given as it is or by its name, with its defaults."""
        if isinstance(thing, str):
            made: Thing = with_defaults(self.find(thing), self.kind)
            return made
        if isinstance(thing, base):
            return thing
        known = f"choose one of {', '.join(self.names())}"
        remedy = "add parentheses" if isinstance(thing, type) and issubclass(thing, base) else known
        raise InputError(
            f"{name or self.kind} must be a {base.__name__} such as {example} or the name of one, got "
            f"{shown(thing)}; {remedy}"
        )

    def names(self) -> list[str]:
        """Return every name."""
        self._load_all()
        return list(self._known)

    def __iter__(self) -> Iterator[T]:
        self._load_all()
        return iter(list(self._known.values()))

    def __contains__(self, name: str) -> bool:
        self._load_all()
        return self._match(name) is not None

    def _match(self, name: str) -> str | None:
        """Return the name as it was registered."""
        folded = _folded(name)
        found = next((known for known in self._known if _folded(known) == folded), None)
        return found or self._short.get(folded)

    def _load_all(self) -> None:
        if self._loaded:
            return
        self._loaded = True  # before loading: a plugin may look things up itself
        for home in self._homes:
            import_module(home)
        for entry in sorted(entry_points(group=self.group), key=lambda entry: entry.name):
            self._load(entry)

    def _load(self, entry: EntryPoint) -> None:
        """Add what an entry point names; what is wrong with it is said once and left out."""
        try:
            thing = entry.load()
            fault = self._check(thing) if self._check is not None else ""
            if fault:
                raise InputError(fault)
            new = self._match(entry.name) is None
            self.add(entry.name, thing)
            if new:
                self._brought[entry.name] = entry.value
        except Exception as error:  # a plugin may fail in any way it likes
            self._leave_out(entry.name, entry.value, str(error))

    def _leave_out(self, name: str, place: str, why: str) -> None:
        warnings.warn(
            f"the {self.kind} {name!r} of {place!r} was left out: {why}; update or uninstall the "
            "package that provides it",
            RuntimeWarning,
            stacklevel=3,
        )


def with_defaults(kind: Any, what: str) -> Any:
    """Return an object of a class with its defaults, or say that it cannot do without settings."""
    try:
        return kind()
    except TypeError:
        raise InputError(
            f"the {what} {kind.__name__} has settings without a default; write {kind.__name__}(...)"
        ) from None


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
