"""The scoping pass: every group of every call path gets an id of its own where it needs one."""

from __future__ import annotations

from dataclasses import dataclass

from schedscope._mlir import ir
from schedscope.callgraph import index_module
from schedscope.combiner import KeyFinder, assign_keys
from schedscope.instances import Instantiator
from schedscope.numbering import number
from schedscope.planning import Planner, callees_first, room_for
from schedscope.report import ScopeReport
from schedscope.rewrite import Rewriter


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
    with module.context, ir.Location.unknown(module.context):
        index = index_module(module)
        order = callees_first(index)
        if not any(function.tags for function in order):
            return ScopeReport()
        with room_for(len(order)):
            return _scoped(module, index, options)


def _scoped(module, index, options) -> ScopeReport:
    numbering = number(index, options.keep_global)
    name = module.operation.attributes["sym_name"] if "sym_name" in module.operation.attributes else None
    planner = Planner(index, "" if name is None else ir.StringAttr(name).value, options.every_call_site)
    instantiator = Instantiator(planner, numbering)
    for entry in index.entries():
        instantiator.enter(entry)
    finder = KeyFinder(planner.dataflow)
    finder.examine(planner.bodies())
    keys = assign_keys(instantiator.instances, finder)
    mark = frozenset(numbering.renumbered.get(g, g) for g in options.keep_global)
    rewriter = Rewriter(index, instantiator.instances, instantiator.homes, keys, mark)
    if not rewriter.changes():
        return ScopeReport()
    rewriter.write()
    return ScopeReport(changed=True)
