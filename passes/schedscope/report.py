"""What the pass did, as data, as JSON and in words (S10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple


class CallSite(NamedTuple):
    """One step of a call path: an op that inlines a body."""

    caller: str
    """The function that holds the op, as the module names it."""
    callee: str
    """The function inlined; for a region, the name of the op that owns it."""
    is_call: bool
    """Whether a function is inlined, and not a region."""
    ordinal: int
    """Which of the caller's ops that inline a body it is, counted from 0 in program order: one
    Python line may make several."""
    location: str | None
    """The op's Python line, "train.py:31"; None where the module records none."""


class Place(NamedTuple):
    """Where ops of a group lie."""

    function: str
    path: tuple[CallSite, ...]
    """The call path to that function from the entry, or from the function around the loop body
    or branch that the group lies in."""


class Group(NamedTuple):
    """One group of the module, as scoping left it."""

    id: int
    original: int
    """The id in the user's module."""
    places: tuple[Place, ...]
    """Every body that has a part in the group, in program order."""
    shared: bool
    """Whether calls have a part in it that could each be a group: they do not depend on each
    other, so they stay one, as XLA has them."""


class Separated(NamedTuple):
    """Groups that XLA may have run as one, and that are now several, for they depend on each
    other."""

    original: int
    ids: tuple[int, ...]
    function: str


@dataclass(frozen=True)
class ScopeReport:
    """What `scope_module` did."""

    changed: bool = False
    """Whether the module is another than before."""
    clones: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """For each cloned function its name and the names of its clones."""
    keys: int = 0
    """How many combiner keys were written, over all functions of the result."""
    separated: tuple[Separated, ...] = ()
    notes: tuple[str, ...] = ()
    spell_out: Callable[[], Sequence[Group]] = tuple
    """Makes `groups`; a big module has many, and few are asked for."""
    module: str = ""
    """The module's name, as in `jit_step`; empty where it has none."""
    renumbered: Mapping[int, int] = field(default_factory=dict)
    """For every id that is not the user's, the id it had in the user's module."""

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Every group, in the order in which ids were given."""
        return tuple(self.spell_out())

    @property
    def warnings(self) -> list[str]:
        """What may surprise, in words."""
        return [
            f"{each.function}: group {each.original} is now groups "
            f"{', '.join(map(str, each.ids))}: its calls depend on each other, though XLA may "
            "have run them as one group"
            for each in self.separated
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain data for `json.dumps`."""
        return {
            "module": self.module,
            "changed": self.changed,
            "groups": [_group_json(group) for group in self.groups],
            "clones": {name: list(clones) for name, clones in self.clones},
            "combiner_keys": self.keys,
            "warnings": self.warnings,
            "notes": list(self.notes),
        }

    def changes(self) -> list[str]:
        """What became of each function's groups, a line each in words."""
        if not self.changed:
            return []
        lines = list(_renumbering_lines(self.groups))
        if self.keys:
            keys = "1 combiner key keeps" if self.keys == 1 else f"{self.keys} combiner keys keep"
            lines.append(f"{keys} collectives of different groups apart")
        return lines

    def summary(self) -> list[str]:
        """A few lines in words: the changes, then warnings and notes."""
        return [
            *self.changes(),
            *(f"warning: {warning}" for warning in self.warnings),
            *(f"note: {note}" for note in self.notes),
        ]


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "original": group.original,
        "shared": group.shared,
        "places": [
            {"function": place.function, "path": [step._asdict() for step in place.path]}
            for place in group.places
        ],
    }


_SHOWN = 4
"""How many places, and how many changes in one place, the summary names of a function."""


def _renumbering_lines(groups: Sequence[Group]) -> Iterator[str]:
    """One line a function: "f: 2 instances, groups 0-3 -> 4-7 at train.py:31"."""
    paths: dict[str, dict[tuple[CallSite, ...], dict[int, int]]] = {}
    for group in groups:
        for place in group.places:
            moved = paths.setdefault(place.function, {}).setdefault(place.path, {})
            if group.id != group.original:
                moved[group.original] = group.id
    for function, instances in paths.items():
        places: dict[tuple[str, str], list[str]] = {}
        for path, moved in instances.items():
            if moved:
                key = _plural("group", moved), _where(path)
                places.setdefault(key, []).append(ranges(moved.values()))
        if places:
            changes = (f"{ids} -> {_shown(new)}{where}" for (ids, where), new in places.items())
            count = f"{len(instances)} instance{'' if len(instances) == 1 else 's'}"
            yield f"{function}: {count}, {_shown(list(changes))}"


def _shown(items: Sequence[str]) -> str:
    more = len(items) - _SHOWN
    return ", ".join([*items[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _plural(word: str, ids: Collection[int]) -> str:
    return f"{word}{'' if len(ids) == 1 else 's'} {ranges(ids)}"


def _where(path: tuple[CallSite, ...]) -> str:
    """The lines of the calls, or of the regions where no call has any."""
    calls = [step.location for step in path if step.is_call and step.location is not None]
    lines = calls or [step.location for step in path if step.location is not None]
    return f" at {' > '.join(lines)}" if lines else ""


def ranges(ids: Iterable[int]) -> str:
    """`0-3, 7` for 0, 1, 2, 3 and 7."""
    spans: list[list[int]] = []
    for number in sorted(ids):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
