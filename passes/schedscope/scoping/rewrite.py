"""Writing the instances into the module: attributes, clones, callees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schedscope import annotation
from schedscope._mlir import clone_after, ir
from schedscope.annotation import FRONTEND_ATTRIBUTES, Frontend
from schedscope.callgraph import (
    CALLED,
    CALLS,
    SYMBOL,
    Collective,
    Function,
    Index,
    Scope,
    Site,
    Tag,
)
from schedscope.scoping.boundary import jit_name
from schedscope.scoping.instances import Instance, Instantiator


@dataclass(eq=False, slots=True)
class Slot:
    """Ops of one scope that carry one attribute and always get the same new one."""

    frontend: Frontend
    holder: Scope | Site
    """The scope whose own ops they are, or the site whose op it is."""
    group: int | None
    """The id as the instance numbers it; None where the op keeps its id."""
    fixed: int | None
    """The id the op keeps."""
    collective: Collective | None
    """The one op, where it is a collective, whose key is its own affair."""
    targets: list[ir.OpAttributeMap]


class Rewriter:
    def __init__(
        self,
        index: Index,
        instantiator: Instantiator,
        keys: dict[tuple[Instance, Collective], str],
        mark: frozenset[int],
    ) -> None:
        """`mark` are the ids, as they will be, whose tags get the marker that they span calls."""
        instances = instantiator.instances
        self.cloned: dict[Function, list[str]] = {}
        self._index = index
        self._instances = instances
        self._homes = dict(instantiator.homes)
        self._keys = keys
        self._mark = mark
        self._attributes: dict[tuple[int, int | None, str | None], ir.Attribute] = {}
        self._slots = {function: _slots(function) for function in instances}

    def changes(self) -> bool:
        """Settles names; True where anything is to be written."""
        self._choose_homes()
        self._name_clones()
        return any(
            instance is not self._homes[function] or not self._is_unchanged(instance)
            for function, found in self._instances.items()
            for instance in found
        )

    def _choose_homes(self) -> None:
        """The function itself becomes an entry's instance, else the first that needs no change,
        else the first."""
        for function, found in self._instances.items():
            if function not in self._homes:
                same = (each for each in found if self._keeps_attributes(each))
                self._homes[function] = next(same, found[0])

    def _name_clones(self) -> None:
        callers = _first_sites(self._index)
        for function, found in self._instances.items():
            site = callers.get(function.name) if len(found) > 1 else None
            jit = None if site is None else jit_name(site)
            names = _clone_names(function.name, jit, self._index.symbols)
            for instance in found:
                if instance is self._homes[function]:
                    instance.symbol = function.name
                else:
                    instance.symbol = next(names)
                    self.cloned.setdefault(function, []).append(instance.symbol)

    def _keeps_attributes(self, instance: Instance) -> bool:
        return all(self._wanted(instance, slot) is None for slot in self._slots[instance.function])

    def _is_unchanged(self, instance: Instance) -> bool:
        return self._keeps_attributes(instance) and all(
            callee.symbol == site.callee for site, callee in instance.callees.items()
        )

    def write(self) -> None:
        """Writes every clone from its function, used as the template, then the function."""
        for function, found in self._instances.items():
            template = _Template(self, function, self._slots[function])
            last = function.op
            for instance in found:
                if instance is not self._homes[function]:
                    template.become(instance)
                    last = clone_after(function.op, last)
                    last.attributes[SYMBOL] = ir.StringAttr.get(instance.symbol)
                    last.attributes["sym_visibility"] = ir.StringAttr.get("private")
            template.become(self._homes[function])

    def _wanted(self, instance: Instance, slot: Slot) -> tuple[int | None, str | None] | None:
        """The new id and key of a slot, or None where its attribute stays as it is."""
        note = slot.frontend.annotation
        group = slot.fixed if slot.group is None else instance.ids[slot.holder, slot.group]
        key = None if slot.collective is None else self._keys.get((instance, slot.collective))
        same = group is None or (note is not None and group == note.group)
        if same and key is None and not self._gets_mark(slot.frontend, group):
            return None
        return group, key

    def _gets_mark(self, frontend: Frontend, group: int | None) -> bool:
        return group in self._mark and not frontend.is_global

    def attribute(self, instance: Instance, slot: Slot) -> ir.Attribute:
        """What the ops of `slot` carry in `instance`."""
        frontend = slot.frontend
        wanted = self._wanted(instance, slot)
        if wanted is None:
            return frontend.attribute
        cached = self._attributes.get((id(frontend), *wanted))
        if cached is None:
            group, key = wanted
            cached = annotation.rewritten(frontend, group, key, self._gets_mark(frontend, group))
            self._attributes[id(frontend), group, key] = cached
        return cached


class _Template:
    """A function whose attributes are those of one instance after another, to be cloned."""

    def __init__(self, rewriter: Rewriter, function: Function, slots: list[Slot]) -> None:
        self._rewriter = rewriter
        self._slots = slots
        self._present: list[ir.Attribute] = [slot.frontend.attribute for slot in slots]
        self._callees = {site: site.callee for site in (*function.sites, *function.outlined)}

    def become(self, instance: Instance) -> None:
        for number, slot in enumerate(self._slots):
            wanted = self._rewriter.attribute(instance, slot)
            if wanted is not self._present[number]:
                for attributes in slot.targets:
                    attributes[FRONTEND_ATTRIBUTES] = wanted
                self._present[number] = wanted
        for site, callee in instance.callees.items():
            if callee.symbol != self._callees[site]:
                _redirect(site, self._callees[site] or "", callee.symbol)
                self._callees[site] = callee.symbol


def _redirect(site: Site, before: str, symbol: str) -> None:
    attributes = site.op.attributes
    name = CALLS.get(site.op.name)
    if name is not None:
        attributes[name] = ir.FlatSymbolRefAttr.get(symbol)
        return
    named = (ir.FlatSymbolRefAttr(each).value for each in ir.ArrayAttr(attributes[CALLED]))
    attributes[CALLED] = ir.ArrayAttr.get(
        [ir.FlatSymbolRefAttr.get(symbol if each == before else each) for each in named]
    )


def _slots(function: Function) -> list[Slot]:
    found: list[Slot] = []

    def add(
        tag: Tag, holder: Scope | Site, numbers: bool, collective: Collective | None = None
    ) -> None:
        own = tag.group if numbers else None
        fixed = tag.spanning if tag.group is None else tag.group
        found.append(Slot(tag.frontend, holder, own, fixed, collective, tag.targets))

    for scope in function.scopes:
        roots = [site.root for site in scope.sites if site.root is not None]
        collectives = {each.tag: each for each in (*scope.collectives, *roots) if each.tag}
        sites = {site.tag: site for site in scope.sites if site.tag is not None}
        for tag in scope.tags:
            add(tag, sites.get(tag, scope), True, collectives.pop(tag, None))
        for tag, followed in scope.followers:
            add(tag, scope, followed is not None and followed.group == tag.group)
        for tag, collective in collectives.items():  # in no group
            add(tag, scope, True, collective)
    return found


def _first_sites(index: Index) -> dict[str, Site]:
    """For each called function the first site that calls it."""
    first: dict[str, Site] = {}
    for function in index.functions.values():
        for site in function.sites:
            if site.callee is not None:
                first.setdefault(site.callee, site)
    return first


def _clone_names(symbol: str, jit: str | None, taken: set[str]) -> Iterator[str]:
    """Names that begin with `symbol` and that jax's own `NAME_n` still matches, so that a
    second run knows the call again."""
    numbered = jit is not None and re.fullmatch(re.escape(jit) + r"_\d+", symbol) is not None
    stem, count = (symbol if numbered else f"{symbol}_"), 0
    while True:
        name = f"{stem}{count}"
        if name not in taken:
            taken.add(name)
            yield name
        count += 1
