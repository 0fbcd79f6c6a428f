"""Which id scoping would give each op at each call path, without changing the module."""

from __future__ import annotations

from schedscope._mlir import block_of, ir
from schedscope.callgraph import SYMBOL, Index, Scope, Site
from schedscope.errors import InputError
from schedscope.runtime import collector_paused, room_for
from schedscope.scoping.indexing import index_module
from schedscope.scoping.instances import Instance, Instantiator
from schedscope.scoping.numbering import number
from schedscope.scoping.planning import Planner
from schedscope.xla.xla_view import Node


class ScopedIds:
    """Of a module that the pass does not take, for a malformed annotation, it tells nothing.
    Raises InputError for a recursive call."""

    def __init__(self, module: ir.Module) -> None:
        with module.context, ir.Location.unknown(module.context), collector_paused():
            index = _index(module)
            with room_for(len(index.functions)):
                numbering = number(index, frozenset())
                instantiator = Instantiator(Planner(index, "", False), numbering)
                for entry in index.entries():
                    instantiator.enter(entry)
        self._renumbered = numbering.renumbered
        self._homes = {each.name: instance for each, instance in instantiator.homes.items()}
        self._scopes: dict[ir.Block, Scope] = {}
        self._sites: dict[ir.Operation, Site] = {}
        for function in index.functions.values():
            for site in function.outlined:
                self._sites[site.op] = site
            for scope in function.scopes:
                self._scopes.update(dict.fromkeys(scope.blocks, scope))
                self._sites.update((site.op, site) for site in scope.sites)

    def id_of(self, node: Node) -> int | None:
        """The id of an annotated op in the scoped module; None where that cannot be told."""
        if node.group is None:
            return None
        outermost = node.path[0].op if node.path else node.op
        instance: Instance | None = self._homes.get(_function_of(outermost))
        group = self._renumbered.get(node.group, node.group)
        handed = group
        """What a call on the way gives to what makes its results, where that has no id."""
        for step in node.path:
            if instance is not None and step.callee is not None:
                site = self._sites.get(step.op)
                if site is not None:
                    handed = instance.ids.get((site, group), handed)
                instance = None if site is None else instance.callees.get(site)
        if instance is None:
            return None
        site = self._sites.get(node.op)
        if site is not None and (site, group) in instance.ids:
            return instance.ids[site, group]
        return instance.ids.get((self._scopes[block_of(node.op)], group), handed)


def _index(module: ir.Module) -> Index:
    try:
        return index_module(module)
    except InputError:
        return Index()


def _function_of(op: ir.Operation) -> str:
    while op.name != "func.func":
        assert op.parent is not None, "every op of a module's program lies in a function"
        op = op.parent.operation
    return ir.StringAttr(op.attributes[SYMBOL]).value
