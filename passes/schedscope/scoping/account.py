"""From the pass's own structures to its report."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from schedscope._mlir import ir
from schedscope.callgraph import PARTITIONED, Site
from schedscope.locations import source_line
from schedscope.report import CallSite, Group, Place, Separated
from schedscope.runtime import room_for
from schedscope.scoping.bodies import Body, GroupSet
from schedscope.scoping.dataflow import Dataflow, Flow, group_of
from schedscope.scoping.gaps import follow_at_once
from schedscope.scoping.instances import Given, Path
from schedscope.states import depends_on_any

_LOOKED_AT = 64
"""How many holders a gap is looked for between: beyond, there is one."""


class Accountant:
    """Spells out sets and paths, each once. What it needs of the module it takes when made, so
    that the module may change or go before anyone asks."""

    def __init__(
        self, bodies: Collection[Body], given: list[Given], originals: dict[int, int]
    ) -> None:
        """`originals` gives the id in the user's module for the ids that were too large."""
        self._bodies = len(bodies)
        self._given = given
        self._originals = originals
        self._locations: dict[Site, ir.Location] = {}
        self._ordinals: dict[Site, int] = {}
        for function in {body.scope.function: None for body in bodies}:
            sites = [site for scope in function.scopes for site in scope.sites]
            sites.sort(key=lambda site: site.position)
            for ordinal, site in enumerate(sites):
                self._ordinals[site] = ordinal
                self._locations[site] = site.op.location
        self._sites: dict[Site, CallSite] = {}
        self._paths: dict[Path, tuple[CallSite, ...]] = {}
        self._parts: dict[GroupSet, tuple[Place, ...]] = {}

    def groups(self) -> list[Group]:
        with room_for(self._bodies):
            return [self._group(each) for each in self._given]

    def renumbered(self) -> dict[int, int]:
        """The original of every id that is not the user's."""
        found = {each.id: self.original(each.formed.group) for each in self._given}
        return {new: old for new, old in found.items() if new != old}

    def original(self, group: int) -> int:
        return self._originals.get(group, group)

    def _group(self, given: Given) -> Group:
        base = self._path(given.path)
        places = tuple(
            Place(part.function, base + part.path)
            for part in self._places(given.body, given.formed)
        )
        original = self.original(given.formed.group)
        return Group(given.id, original, places, _is_shared(given.formed))

    def _path(self, path: Path | None) -> tuple[CallSite, ...]:
        if path is None:
            return ()
        known = self._paths.get(path)
        if known is None:
            known = self._paths[path] = (*self._path(path.outer), self._site(path.site))
        return known

    def _places(self, body: Body, formed: GroupSet) -> tuple[Place, ...]:
        known = self._parts.get(formed)
        if known is not None:
            return known
        found: list[Place] = []
        for holder in formed.holders:
            if holder.link is None and formed.group in body.tagged:
                found.append(Place(body.scope.function.name, ()))
            for link in (*holder.inherited, holder.link):
                if link is None:
                    continue
                step, inner = self._site(link.site), link.body.handed_up.get(formed.group)
                if inner is None:
                    found.append(Place(step.callee, (step,)))
                    continue
                for place in self._places(link.body, inner):
                    found.append(Place(place.function, (step, *place.path)))  # noqa: PERF401
        known = self._parts[formed] = tuple(found)
        return known

    def _site(self, site: Site) -> CallSite:
        known = self._sites.get(site)
        if known is None:
            callee = site.name if site.callee is None else site.callee
            caller = site.scope.function.name
            line = source_line(self._locations[site])
            known = self._sites[site] = CallSite(
                caller, callee, site.callee is not None, self._ordinals[site], line
            )
        return known


def _is_shared(formed: GroupSet) -> bool:
    """True where calls that do not depend on each other are one group."""
    if len(formed.holders) > 1:
        return True
    for link in formed.links:
        inner = link.body.handed_up.get(formed.group)
        if inner is not None and _is_shared(inner):
            return True
    return False


def separated(
    given: list[Given], dataflow: Dataflow, accountant: Accountant
) -> Iterator[Separated]:
    """Ids that are several groups now and that XLA may have taken for one. XLA:GPU drops most
    computes from a group, and where no collective of one depends on a collective of another it
    meets no gap; elsewhere there may be none because members follow each other at once."""
    families: dict[tuple[Body, Path | None, int], list[Given]] = {}
    for each in given:
        families.setdefault((each.body, each.path, each.formed.group), []).append(each)
    for (body, _, group), family in families.items():
        if len(family) > 1 and dataflow.knows(body):
            sets = {each.formed for each in family}
            flow = dataflow.flow(body)
            if _could_be_one(body, flow, sets) or _follow_at_once(body, family):
                ids = tuple(each.id for each in family)
                yield Separated(accountant.original(group), ids, body.scope.function.name)


def _follow_at_once(body: Body, family: list[Given]) -> bool:
    holders = [holder for each in family for holder in each.formed.holders]
    return len(holders) <= _LOOKED_AT and follow_at_once(body, holders)


def _could_be_one(body: Body, flow: Flow, sets: set[GroupSet]) -> bool:
    """True where collectives lie in two of the sets and none depends on another set's."""
    found = 0
    found_in: dict[GroupSet, int] = {}
    for member in flow.members:
        if member.kind == PARTITIONED:
            continue
        group = group_of(body, member)
        if not isinstance(group, GroupSet) or group not in sets:
            continue
        mine = found_in.get(group, 0)
        if depends_on_any(member.before, found & ~mine):
            return False
        found |= 1 << member.item
        found_in[group] = mine | 1 << member.item
    return len(found_in) > 1
