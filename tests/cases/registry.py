"""The case programs by name."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases.kit import Family, Function, Kit, make_kit
from tests.cases.lowering import Lowered, lower, mapped

Case = Callable[[Kit], Function]
"""Given the kit, a function of x and w."""

_CASES: dict[str, tuple[Case, bool]] = {}


def case(build: Case) -> Case:
    """Registers a program that runs under one shard_map."""
    _CASES[build.__name__] = (build, True)
    return build


def global_case(build: Case) -> Case:
    """Registers a program that maps for itself."""
    _CASES[build.__name__] = (build, False)
    return build


def names() -> list[str]:
    _load()
    return sorted(_CASES)


def function(name: str, family: Family) -> Function:
    """Of the whole x and w; named after the case, as jax names the module after it."""
    _load()
    build, wrap = _CASES[name]
    program = build(make_kit(family))
    program.__name__ = name
    return mapped(program) if wrap else program


def lower_case(name: str, family: Family, platform: str | None = None) -> Lowered:
    return lower(function(name, family), platform or family)


def _load() -> None:
    from tests.cases import calls, control, inherited, shared, unjitted

    del calls, control, inherited, shared, unjitted
