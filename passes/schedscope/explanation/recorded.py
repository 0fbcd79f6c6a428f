"""Reads what `schedscope fix --report` wrote (docs/report.md), this version's and older ones'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from schedscope.errors import InputError


class Call(NamedTuple):
    """One step of a call path."""

    callee: str
    is_call: bool
    line: str | None


class Spot(NamedTuple):
    """A body that has a part in a group."""

    function: str
    calls: tuple[Call, ...]
    lines: tuple[str, ...]
    """The Python lines of the group's ops there, where the record has them."""


class Member(NamedTuple):
    """One group."""

    id: int
    original: int
    shared: bool
    places: tuple[Spot, ...]


class Step(NamedTuple):
    """One op of a path."""

    op: str
    line: str | None
    group: int | None
    """The group that the op is a member of."""
    is_backward: bool
    """Whether jax.grad added the op to the program."""
    calls: tuple[Call, ...]


class Path(NamedTuple):
    """What is wrong with groups, op by op: a gap of one, or groups that wait for each other."""

    ids: tuple[int, ...]
    targets: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Record:
    changed: bool
    groups: tuple[Member, ...]
    module: str = ""
    kept_whole: frozenset[int] = frozenset()
    """The ids that span calls on purpose."""
    gaps: tuple[Path, ...] | None = None
    """None where the record does not say: older ones do not."""
    waits: tuple[Path, ...] = ()
    """Once around each cycle of groups; of one group that waits for itself, the op that waits."""

    def group(self, id: int) -> Member | None:
        return next((group for group in self.groups if group.id == id), None)

    def made_of(self, original: int) -> list[Member]:
        """The groups that an id of the user's module has become."""
        return [group for group in self.groups if group.original == original]


def read(document: object) -> Record:
    """The record of one module. Raises InputError."""
    try:
        return _record(_mapping(document))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a report of `schedscope fix --report`: {_words(error)}") from error


def read_all(document: object) -> list[tuple[str | None, Record]]:
    """Every record of a report, with the file's name where there are several. Files that could
    not be done are left out. Raises InputError."""
    if not isinstance(document, list):
        if isinstance(document, Mapping) and "error" in document and "groups" not in document:
            return []
        return [(None, read(document))]
    found = []
    for each in document:
        if not isinstance(each, Mapping) or not isinstance(each.get("file"), str):
            raise InputError("not a report of `schedscope fix --report`: a list of something else")
        if "error" not in each:
            found.append((each["file"], read(each.get("report"))))
    return found


def _record(data: Mapping[str, Any]) -> Record:
    gaps = data.get("gaps")
    return Record(
        bool(data["changed"]),
        tuple(_group(_mapping(each)) for each in _list(data["groups"])),
        str(data.get("module", "")),
        frozenset(map(int, _list(data.get("kept_whole", [])))),
        None if gaps is None else _paths(gaps),
        _paths(data.get("waits", [])),
    )


def _group(data: Mapping[str, Any]) -> Member:
    places = tuple(
        Spot(
            str(each["function"]),
            _calls(each["path"]),
            tuple(map(str, _list(each.get("lines", [])))),
        )
        for each in map(_mapping, _list(data["places"]))
    )
    return Member(int(data["id"]), int(data["original"]), bool(data["shared"]), places)


def _paths(entries: object) -> tuple[Path, ...]:
    return tuple(_path(data) for data in map(_mapping, _list(entries)))


def _path(data: Mapping[str, Any]) -> Path:
    ids = tuple(map(int, _list(data["ids"])))
    steps = tuple(_step(_mapping(each)) for each in _list(data["path"]))
    if not ids or not steps:
        raise ValueError("a path needs an id and an op")
    return Path(ids, tuple(map(str, _list(data["targets"]))), steps)


def _step(data: Mapping[str, Any]) -> Step:
    group, calls = data["group"], _calls(data["path"])
    number = None if group is None else int(group)
    return Step(str(data["op"]), _line(data["location"]), number, bool(data["backward"]), calls)


def _calls(steps: object) -> tuple[Call, ...]:
    return tuple(
        Call(str(step["callee"]), bool(step["is_call"]), _line(step["location"]))
        for step in map(_mapping, _list(steps))
    )


def _line(value: object) -> str | None:
    return None if value is None else str(value)


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"met {type(value).__name__}, wanted an object")
    return value


def _list(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise TypeError(f"met {type(value).__name__}, wanted a list")
    return value


def _words(error: Exception) -> str:
    return f'it has no "{error.args[0]}"' if isinstance(error, KeyError) else str(error)
