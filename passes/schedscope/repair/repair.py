"""Whatever lint calls an error is repaired: as many groups as can be kept are kept."""

from __future__ import annotations

from typing import Literal

from schedscope._mlir import ir, jaxlib_version
from schedscope.annotation import GROUP_ID
from schedscope.errors import InputError
from schedscope.repair.fates import composed, fates_of, renumbered
from schedscope.repair.faults import faults
from schedscope.repair.keys import part_collectives
from schedscope.repair.loops import keep_in_loops
from schedscope.repair.marks import Marks
from schedscope.repair.order import agree
from schedscope.repair.push_down import push_down
from schedscope.repair.report import Fate, Loss, RepairReport
from schedscope.repair.seal import seal_groups
from schedscope.repair.spanning import mark_spanning
from schedscope.repair.split import split, untangle
from schedscope.repair.unreadable import (
    loss,
    remove,
    remove_crashing,
    remove_unreadable,
    spare_calls,
)
from schedscope.repair.unshare import unshare
from schedscope.report import ScopeReport
from schedscope.runtime import collector_paused
from schedscope.scoping.scope import ScopeOptions, scope_module
from schedscope.xla import bytecode
from schedscope.xla.flat import Flat
from schedscope.xla.flattening import flatten
from schedscope.xla.targets import GPU, GPU_0_10, TARGETS, V5E, Target
from schedscope.xla.xla_view import View, view_of

RepairTarget = Literal["gpu", "tpu", "gpu-0.10", "v5e", "v6e", "tpu7x"]

_ROUNDS = 32
"""How often the module is looked at again; a few times is enough for all that was tried."""
_TURNS = 16
"""How often what has been put together is gone through again."""


def repair_module(
    module: ir.Module,
    target: RepairTarget = "gpu",
    options: ScopeOptions | None = None,
    *,
    seal: bool | None = None,
) -> RepairReport:
    """Scopes the groups of `module`, then makes groups of them that XLA accepts; in place.

    Args:
      module: a StableHLO module.
      target: the compiler. "gpu" is the XLA:GPU of this jaxlib, "tpu" the libtpu that refuses the
        most.
      options: as for `scope_module`.
      seal: whether to put optimization barriers around groups that a later fusion could tie to
        something outside: around each with True, around none with False, and with None, on TPU,
        around those that were split or are at risk.

    Returns:
      What was done.

    Raises:
      InputError: the module cannot be understood, and is untouched: recursive calls, a callee that
        is not there.
    """
    compiler = compiler_for(target)
    with module.context, ir.Location.unknown(module.context), collector_paused():
        data = bytecode.write(module)
        if GROUP_ID.encode() not in data:
            return RepairReport(scope_module(module, options), target)
        losses = list(remove_crashing(module, compiler, data))
        try:
            scope = scope_module(module, options)
        except InputError:
            losses += remove_unreadable(module)
            scope = scope_module(module, options)
        return _Repair(module, compiler, options, seal).run(target, scope, losses)


def compiler_for(target: RepairTarget) -> Target:
    """The compiler that stands for a target."""
    if target == "gpu":
        return GPU if _at_least(jaxlib_version(), (0, 11)) else GPU_0_10
    return V5E if target == "tpu" else TARGETS[target]


def _at_least(version: str, wanted: tuple[int, int]) -> bool:
    major, minor, *_ = version.split(".")
    return (int(major), int(minor)) >= wanted


def _unshared(flat: Flat, compiler: Target) -> tuple[View, bool]:
    """The module as it is once functions are cloned, and whether any was."""
    cloned = False
    for _ in range(_ROUNDS):
        view = view_of(flat, compiler)
        if not (unshare(view, waiting=False) or unshare(view, waiting=True)):
            break
        cloned = True
        flat = flatten(flat.module)
    return view, cloned


def _parted(view: View) -> tuple[tuple[Fate, ...], list[Loss], set[int], View]:
    """Parts groups until none has a fault; the view is that of the outcome."""
    flat = view.flat
    marks = Marks(flat)
    before = dict(flat.marks)
    for _ in range(_ROUNDS):
        if not split(view, marks) and not untangle(view, marks):
            break
        view = view_of(flat, view.target)
    losses = [
        loss(flat.ops[op], old.text or "", "it depends on itself, for its function is shared")
        for op, old, new in marks.changed()
        if new.group is None
    ]
    marks.write()
    return fates_of(flat, before), losses, marks.knotted, view


class _Repair:
    """Of a module that is scoped."""

    def __init__(
        self, module: ir.Module, compiler: Target, options: ScopeOptions | None, seal: bool | None
    ) -> None:
        self._module = module
        self._compiler = compiler
        self._options = options
        self._seal = seal
        self._fates: tuple[Fate, ...] = ()
        self._losses: list[Loss] = []
        self._sealed: dict[int, None] = {}
        self._ordered: dict[int, None] = {}
        self._held: dict[int, None] = {}
        self._keys = 0
        self._changed = False

    def run(self, target: RepairTarget, scope: ScopeReport, losses: list[Loss]) -> RepairReport:
        flat = flatten(self._module)
        pushed = tuple(push_down(flat, self._compiler.crashes))
        if pushed:
            flat = flatten(self._module)
        spared = bool(self._compiler.crashes) and spare_calls(flat, self._compiler)
        if spared:
            flat = flatten(self._module)
        self._changed = bool(losses or scope.changed or pushed or spared)
        again = self._turn(flat, bool(pushed) or spared)
        for _ in range(_TURNS):
            if not again:
                break
            again = self._turn(flatten(self._module), True)
        if again or self._keys:
            self._give_up()
        return RepairReport(
            scope,
            target,
            self._changed,
            self._fates,
            (*losses, *self._losses),
            tuple(self._sealed),
            tuple(self._ordered),
            pushed,
            self._keys,
            tuple(self._held),
        )

    def _turn(self, flat: Flat, rescope: bool) -> bool:
        """True where what was done last may have faults of its own: a barrier ties what it holds
        together, and scoping tells calls apart."""
        view, clones = _unshared(flat, self._compiler)
        held = keep_in_loops(view)
        if held:
            self._held.update(dict.fromkeys(held))
            self._changed = True
            view = view_of(flatten(self._module), self._compiler)
        keys = self._part_collectives(view)
        if keys:
            view = view_of(flatten(self._module), self._compiler)
        fates, trimmed, knotted, view = _parted(view)
        self._fates = composed(self._fates, fates)
        self._losses += trimmed
        parted = any(fate.kind != "whole" for fate in fates)
        again = False
        if rescope or clones or parted:
            again = self._scope()
            view = view_of(flatten(self._module), self._compiler)
        ordered = tuple(agree(view))
        self._ordered.update(dict.fromkeys(ordered))
        keys += self._part_collectives(view)
        sealed = self._put_barriers(view, fates, knotted)
        self._changed |= bool(clones or parted or ordered or keys or sealed)
        return again or bool(sealed or held)

    def _part_collectives(self, view: View) -> int:
        keys = part_collectives(view) if self._compiler.combines else 0
        self._keys += keys
        return keys

    def _scope(self) -> bool:
        """Keys for the groups that are new; whether it gave ids."""
        report = scope_module(self._module, self._options)
        if not report.changed:
            return False
        self._changed = True
        self._keys += report.keys
        self._fates = renumbered(self._fates, report.renumbered)
        return bool(report.renumbered)

    def _put_barriers(
        self, view: View, fates: tuple[Fate, ...], knotted: set[int]
    ) -> tuple[int, ...]:
        if self._seal is False:
            return ()
        parted: set[int] = set()
        if view.target.family == "tpu":
            parted = {each for fate in fates if fate.kind == "split" for each in fate.ids}
            parted |= knotted
        sealed = seal_groups(view, None if self._seal else parted)
        if sealed:
            mark_spanning(flatten(self._module), sealed)
            self._sealed.update(dict.fromkeys(sealed))
        return sealed

    def _give_up(self) -> None:
        """Groups that have a fault after all turns are dropped."""
        for _ in range(_ROUNDS):
            flat = flatten(self._module)
            view = view_of(flat, self._compiler)
            found = faults(view, waiting=False) or faults(view, waiting=True)
            groups = {group for _, those in found for group in those}
            if not groups:
                return
            why = "whatever was tried, XLA would refuse its group"
            before = dict(flat.marks)
            for number, mark in before.items():
                if mark.group in groups:
                    self._losses.append(loss(flat.ops[number], mark.text or "", why))
                    remove(flat.ops[number])
                    flat.marks[number] = mark._replace(group=None)
            self._fates = composed(self._fates, fates_of(flat, before))
