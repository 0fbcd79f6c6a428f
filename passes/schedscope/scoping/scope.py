"""The scoping pass: every group of every call path gets an id of its own where it needs one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schedscope._mlir import ir
from schedscope.annotation import GROUP_ID, GROUP_LIMIT
from schedscope.callgraph import SYMBOL, Index
from schedscope.explanation.diagnose import name
from schedscope.report import ScopeReport
from schedscope.runtime import collector_paused, room_for
from schedscope.scoping.account import Accountant, separated
from schedscope.scoping.combiner import KeyFinder, assign_keys
from schedscope.scoping.indexing import holds_annotations, index_module
from schedscope.scoping.instances import Instantiator
from schedscope.scoping.numbering import Numbering, number
from schedscope.scoping.planning import Planner, callees_first
from schedscope.scoping.rewrite import Rewriter


@dataclass(frozen=True)
class ScopeOptions:
    """How to scope a module."""

    every_call_site: bool = False
    """Every call and inlined body gets groups of its own, also where XLA could run them
    together. The default leaves calls that do not depend on each other one group."""
    keep_global: frozenset[int] = frozenset()
    """Ids that span calls: they stay whole, and are marked so in the module."""


def scope_module(module: ir.Module, options: ScopeOptions | None = None) -> ScopeReport:
    """Scopes the scheduling groups of `module`, in place.

    Args:
      module: a StableHLO module; it is changed only where the report says so.
      options: how; the defaults change as little as possible.

    Returns:
      What was done.

    Raises:
      InputError: the module cannot be understood, and is untouched: a malformed annotation,
        recursive calls, a callee that is not there.
    """
    options = options or ScopeOptions()
    with module.context, ir.Location.unknown(module.context), collector_paused():
        module_name = name_of(module)
        if not holds_annotations(module):
            return ScopeReport(module=module_name)
        index = index_module(module)
        order = callees_first(index)
        if next(index.tags(), None) is None:
            return ScopeReport(notes=tuple(_stray_notes(index)), module=module_name)
        with room_for(len(order)):
            return _scoped(index, module_name, options)


def check_calls(module: ir.Module) -> None:
    """Raises InputError for a module whose calls XLA cannot inline. `scope_module` does the same
    for a module with annotations, and does not look at the calls of any other."""
    callees_first(index_module(module))


def _scoped(index: Index, module_name: str, options: ScopeOptions) -> ScopeReport:
    numbering = number(index, options.keep_global)
    planner = Planner(index, module_name, options.every_call_site)
    instantiator = Instantiator(planner, numbering)
    for entry in index.entries():
        instantiator.enter(entry)
    finder = KeyFinder(planner.dataflow)
    finder.examine(planner.bodies())
    keys = assign_keys(instantiator.instances, finder)
    mark = frozenset(numbering.renumbered.get(each, each) for each in options.keep_global)
    rewriter = Rewriter(index, instantiator, keys, mark)
    changed = rewriter.changes()
    originals = {new: old for old, new in numbering.renumbered.items()}
    accountant = Accountant(planner.bodies(), instantiator.given, originals)
    report = ScopeReport(
        changed,
        tuple((function.name, tuple(names)) for function, names in rewriter.cloned.items()),
        len(keys),
        tuple(separated(instantiator.given, planner.dataflow, accountant)),
        tuple(_notes(index, planner, numbering)),
        accountant.groups,
        module_name,
        accountant.renumbered(),
    )
    if changed:
        rewriter.write()
    return report


def name_of(module: ir.Module) -> str:
    """The module's name; empty where it has none."""
    attributes = module.operation.attributes
    return ir.StringAttr(attributes[SYMBOL]).value if SYMBOL in attributes else ""


def _notes(index: Index, planner: Planner, numbering: Numbering) -> Iterator[str]:
    if planner.treated_as_jit and not planner.has_locations:
        yield (
            "the module has no Python locations, so every call counts as a call of a jitted "
            "function"
        )
    for old, new in numbering.renumbered.items():
        yield f"group {old} is {new} now: XLA:GPU reads ids below {GROUP_LIMIT} only"
    yield from _stray_notes(index)


def _stray_notes(index: Index) -> Iterator[str]:
    for op, _ in index.stray:
        yield f"{name(op)} is a symbol; its {GROUP_ID} means nothing and stays"
