"""What repair did, group by group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from schedscope.report import ScopeReport

FateKind = Literal["whole", "split", "trimmed", "dropped"]


class Loss(NamedTuple):
    """An op that carries no id any more."""

    op: str
    """Its name, as in `stablehlo.all_gather`."""
    group: str
    """What its annotation said."""
    location: str | None
    """Its Python line, "train.py:31"; None where the module records none."""
    why: str


class Fate(NamedTuple):
    """What became of one group of the scoped module."""

    id: int
    original: int
    """The id in the user's module."""
    kind: FateKind
    ids: tuple[int, ...]
    """The groups it is now."""
    locations: tuple[str, ...]
    """The Python lines of its ops, in program order."""


@dataclass(frozen=True)
class RepairReport:
    """What `repair_module` did."""

    scope: ScopeReport
    """What scoping did first."""
    target: str
    changed: bool = False
    """Whether the module is another than before, by scoping or after."""
    fates: tuple[Fate, ...] = ()
    """Every group, by id."""
    losses: tuple[Loss, ...] = ()
    sealed: tuple[int, ...] = ()
    """Groups around which there are optimization barriers now."""
    ordered: tuple[int, ...] = ()
    """Groups whose ops agree now on keep_original_sequence_order_in_group."""
    pushed: tuple[str, ...] = ()
    """Functions to whose ops the id of their call was given."""
    keys: int = 0
    """How many combiner keys were written after scoping."""
    held: tuple[int, ...] = ()
    """Groups of loop bodies of which barriers keep ops in the loop."""

    def summary(self) -> Iterator[str]:
        """In words, a line each; nothing of groups that are whole."""
        yield from self.scope.summary()
        for fate in self.fates:
            where = f" ({', '.join(fate.locations[:3])})" if fate.locations else ""
            name = f"group {fate.id}"
            if fate.id != fate.original:
                name += f", in your program {fate.original},"
            if fate.kind == "split":
                yield f"{name} is split into {', '.join(map(str, fate.ids))}{where}"
            elif fate.kind == "trimmed":
                yield f"{name} has lost ops{where}"
            elif fate.kind == "dropped":
                yield f"{name} is dropped{where}"
        for loss in self.losses:
            where = "" if loss.location is None else f" at {loss.location}"
            yield f'{loss.op}{where} loses its annotation "{loss.group}": {loss.why}'
        for name in self.pushed:
            yield f"@{name}: the id on its call is on its ops now"
        for group in self.ordered:
            yield f"group {group}: its ops agree now on whether they keep their order"
        for group in self.sealed:
            yield f"group {group} is between optimization barriers now"
        for group in self.held:
            yield f"group {group}: a barrier keeps what is the same in each turn in its loop"
        if self.keys:
            yield f"{self.keys} collectives have a combiner key of their own now"

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "target": self.target,
            "changed": self.changed,
            "scope": self.scope.to_json(),
            "groups": [
                {**fate._asdict(), "ids": list(fate.ids), "locations": list(fate.locations)}
                for fate in self.fates
            ],
            "lost": [loss._asdict() for loss in self.losses],
            "sealed": list(self.sealed),
            "ordered": list(self.ordered),
            "pushed_down": list(self.pushed),
            "keys": self.keys,
            "held": list(self.held),
        }
