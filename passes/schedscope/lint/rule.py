"""What a rule is: a module of its own in `rules`, whose docstring is its documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from schedscope._mlir import ir
from schedscope.lint.diagnostic import Diagnostic, Related, Severity, Spot
from schedscope.lint.scoping import ScopedIds
from schedscope.xla.aborts import Crowd, MixedOrder, crowds, mixed_orders
from schedscope.xla.flat import Flat
from schedscope.xla.gap_search import Gap, gaps
from schedscope.xla.group_cycles import Wait, waits
from schedscope.xla.ids import Problem, problems
from schedscope.xla.merging import Merge, merges
from schedscope.xla.targets import Target
from schedscope.xla.xla_view import View, view_of


@dataclass(eq=False)
class Module:
    """What rules ask of, for one target; each answer is found once."""

    module: ir.Module
    flat: Flat
    target: Target

    @cached_property
    def view(self) -> View:
        return view_of(self.flat, self.target)

    @cached_property
    def scoped(self) -> ScopedIds:
        return ScopedIds(self.module)

    @cached_property
    def gaps(self) -> list[Gap]:
        return gaps(self.view)

    @cached_property
    def waits(self) -> list[Wait]:
        """Empty where the target does not mind."""
        return waits(self.view) if self.target.stuck_on_cycles else []

    @cached_property
    def merges(self) -> list[Merge]:
        return merges(self.view)

    @cached_property
    def problems(self) -> list[Problem]:
        return list(problems(self.view))

    @cached_property
    def mixed_orders(self) -> list[MixedOrder]:
        return list(mixed_orders(self.view))

    @cached_property
    def crowds(self) -> list[Crowd]:
        return list(crowds(self.view))


@dataclass(frozen=True)
class Rule:
    code: str
    """Stable: `SG1..` XLA refuses, `SG2..` XLA ignores in silence or may refuse, `SG3..` notes."""
    name: str
    """States what is found, and reads well after the word "allow"."""
    severity: Severity
    check: Callable[[Rule, Module], Iterator[Diagnostic]] = field(repr=False)
    doc: str = field(default="", repr=False)
    """In this order: what it finds, why XLA objects, an example, what to write instead, and
    whether `schedscope fix` removes it."""

    def finds(
        self,
        message: str,
        spot: Spot,
        related: Sequence[Related] = (),
        severity: Severity | None = None,
        **more: Any,
    ) -> Diagnostic:
        weight = self.severity if severity is None else severity
        return Diagnostic(
            self.code, self.name, weight, message, spot, related=tuple(related), **more
        )
