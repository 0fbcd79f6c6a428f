"""What the pass did, as data, as JSON and in words (S10)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class CallSite:
    """One step of a call path."""

    caller: str
    callee: str
    location: str | None
    """"train.py:31", or None where the module holds no Python location."""


@dataclass(frozen=True)
class Group:
    """One group of the output whose id is not the one the user wrote."""

    id: int
    original: int
    function: str
    """The function, as the user's module names it, whose ops hold the id; the innermost one
    where the group lies in several."""
    path: tuple[CallSite, ...]
    """From the entry, or from the function around a loop body or branch, to the function."""


@dataclass(frozen=True)
class Shared:
    """Calls that stay one group because none depends on another."""

    id: int
    original: int
    calls: tuple[CallSite, ...]


@dataclass(frozen=True)
class ScopeReport:
    """What `scope_module` did. Empty where it changed nothing."""

    changed: bool = False
    groups: tuple[Group, ...] = ()
    clones: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each cloned function the names of the clones, the function itself left out."""
    shared: tuple[Shared, ...] = ()
    keys: tuple[str, ...] = ()
    """New combiner keys."""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The report as plain data for `json.dumps`."""
        return asdict(self)

    def summary(self) -> list[str]:
        """One line for each thing done."""
        return []
