"""Whatever lint calls an error is repaired: as many groups as can be kept are kept."""

from __future__ import annotations

from typing import Literal

from schedscope._mlir import ir, jaxlib_version
from schedscope.errors import InputError
from schedscope.flattening import Flat, Mark, flatten
from schedscope.indexing import holds_annotations
from schedscope.repair.keys import part_collectives
from schedscope.repair.marks import Marks
from schedscope.repair.order import agree
from schedscope.repair.push_down import push_down
from schedscope.repair.report import Fate, FateKind, Loss, RepairReport
from schedscope.repair.seal import seal_groups
from schedscope.repair.split import split, untangle
from schedscope.repair.unreadable import loss, place, remove_crashing, remove_unreadable
from schedscope.repair.unshare import unshare
from schedscope.runtime import collector_paused
from schedscope.scope import ScopeOptions, scope_module
from schedscope.targets import GPU, GPU_0_10, TARGETS, V5E, Target
from schedscope.xla_view import View, view_of

RepairTarget = Literal["gpu", "tpu", "gpu-0.10", "v5e", "v6e", "tpu7x"]

_ROUNDS = 32
"""How often the module is looked at again; a few times is enough for all that was tried."""


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
        if not holds_annotations(module):
            return RepairReport(scope_module(module, options), target)
        losses = list(remove_crashing(module, compiler))
        try:
            scope = scope_module(module, options)
        except InputError:
            losses += remove_unreadable(module)
            scope = scope_module(module, options)
        pushed = tuple(push_down(flatten(module)))
        view, clones = _unshared(module, compiler)
        fates, trimmed, knotted, view = _parted(view)
        losses += trimmed
        keys = 0
        if pushed or clones or any(fate.kind != "whole" for fate in fates):
            again = scope_module(module, options)  # keys for the groups that are new
            keys = again.keys if again.changed else 0
            view = view_of(flatten(module), compiler)
        ordered = tuple(agree(view))
        keys += part_collectives(view) if compiler.combines else 0
        sealed = _sealed(view, fates, knotted, seal)
    changed = bool(losses or scope.changed or pushed or clones or ordered or keys or sealed) or any(
        fate.kind != "whole" for fate in fates
    )
    return RepairReport(scope, target, changed, fates, tuple(losses), sealed, ordered, pushed, keys)


def compiler_for(target: RepairTarget) -> Target:
    """The compiler that stands for a target."""
    if target == "gpu":
        return GPU if _at_least(jaxlib_version(), (0, 11)) else GPU_0_10
    return V5E if target == "tpu" else TARGETS[target]


def _at_least(version: str, wanted: tuple[int, int]) -> bool:
    major, minor, *_ = version.split(".")
    return (int(major), int(minor)) >= wanted


def _unshared(module: ir.Module, compiler: Target) -> tuple[View, bool]:
    """The module as it is once functions are cloned, and whether any was."""
    cloned = False
    for _ in range(_ROUNDS):
        view = view_of(flatten(module), compiler)
        if not (unshare(view, waiting=False) or unshare(view, waiting=True)):
            break
        cloned = True
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
    return _fates(flat, before, marks), losses, marks.knotted, view


def _fates(flat: Flat, before: dict[int, Mark], marks: Marks) -> tuple[Fate, ...]:
    ops: dict[int, list[int]] = {}
    for op, mark in before.items():
        if mark.group is not None:
            ops.setdefault(mark.group, []).append(op)
    found = []
    for group, members in sorted(ops.items()):
        now = [flat.marks[op].group for op in sorted(members)]
        ids = tuple(dict.fromkeys(each for each in now if each is not None))
        kind: FateKind = "whole"
        if not ids:
            kind = "dropped"
        elif len(ids) > 1:
            kind = "split"
        elif None in now:
            kind = "trimmed"
        places = () if kind == "whole" else dict.fromkeys(place(flat.ops[op]) for op in members)
        lines = tuple(each for each in places if each is not None)
        found.append(Fate(group, group, kind, ids, lines))
    return tuple(found)


def _sealed(
    view: View, fates: tuple[Fate, ...], knotted: set[int], seal: bool | None
) -> tuple[int, ...]:
    if seal is False or (seal is None and view.target.family == "gpu"):
        return ()
    parted = {each for fate in fates if fate.kind == "split" for each in fate.ids}
    return seal_groups(view, None if seal else parted | knotted)
