"""Rules S1 to S4: what inherits whose group, and which holders of an id form one set."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.callgraph import Function, Index, Scope, Site
from schedscope.explanation.diagnose import complaint
from schedscope.locations import name_of
from schedscope.scoping.bodies import Body, Fate, GroupSet, Holder, Link
from schedscope.scoping.boundary import is_out_of_line
from schedscope.scoping.dataflow import Dataflow, Flow
from schedscope.scoping.gaps import make_one_group
from schedscope.scoping.sweep import sweep

NO_IDS: frozenset[int] = frozenset()


class Planner:
    """Plans bodies on demand, each once for every way it is entered."""

    def __init__(self, index: Index, module_name: str, every_call_site: bool) -> None:
        self.index = index
        self.dataflow = Dataflow(sweep)
        self._module_name = module_name
        self._every_call_site = every_call_site
        self._below = _groups_below(index)
        self._bodies: dict[tuple[Scope, frozenset[int], frozenset[int]], Body] = {}
        self.treated_as_jit = False
        """Whether an untagged call that holds groups was taken for a jit call."""
        self.has_locations = any(
            name_of(site.op.location) is not None
            for function in index.functions.values()
            for site in function.sites
        )

    def plan(self, function: Function, entered: frozenset[int] = NO_IDS) -> Body:
        """The body of `function` entered with the ids `entered`, a subset of those below it."""
        return self._plan(function.root, entered, entered)

    def bodies(self) -> list[Body]:
        """Every body planned so far, callees first."""
        return list(self._bodies.values())

    def _plan(self, scope: Scope, entered: frozenset[int], within: frozenset[int]) -> Body:
        """`within` are the ids that an out-of-line call in here may inherit."""
        key = (scope, entered, within)
        body = self._bodies.get(key)
        if body is not None:
            return body
        body = Body(scope, entered)
        held = {tag.group for tag in scope.tags if tag.group is not None}
        for site in scope.sites:
            inlined = self._linked(site, held, within)
            body.links.append(Link(site, inlined, _bare(site, inlined, entered)))
        for region in scope.computations:
            outer = region.owner_tag.group if region.owner_tag is not None else None
            inherits = within if outer is None else within | {outer}
            body.computations.append(self._plan(region, NO_IDS, inherits))
        self._form_sets(body)
        self._bodies[key] = body
        return body

    def _linked(self, site: Site, held: set[int], within: frozenset[int]) -> Body:
        target = self._target(site)
        below = self._below[target]
        entered = NO_IDS
        if site.tag is not None:
            entered = below & {site.tag.group} if site.tag.group is not None else NO_IDS
        elif below and site.callee is not None:
            candidates = frozenset(group for group in below if group in held or group in within)
            if candidates and is_out_of_line(site, self._module_name, self.has_locations):
                entered = candidates
            else:
                self.treated_as_jit = True
        return self._plan(target, entered, entered)

    def _target(self, site: Site) -> Scope:
        if site.body is not None:
            return site.body
        return self.index.functions[site.callee or ""].root

    def _form_sets(self, body: Body) -> None:
        found = sorted(_holders(body).items(), key=lambda item: item[1][0].position)
        for group, holders in found:
            body.sets[group] = formed = [
                GroupSet(group, members) for members in self._partition(body, group, holders)
            ]
            self._settle(body, group, formed)

    def _partition(self, body: Body, group: int, holders: list[Holder]) -> list[list[Holder]]:
        if len(holders) == 1:
            return [holders]
        if self._every_call_site:
            return [[holder] for holder in holders]
        flow = self.dataflow.flow(body)
        own = next((holder for holder in holders if holder.link is None), None)
        sets: list[list[Holder]] = [[]]
        items = 0
        for holder in holders:
            item = flow.mask([holder])
            # Of those before it only the body's own ops, which go on, can wait for it.
            if flow.waits(holder, items) or (
                own is not None and own in sets[-1] and flow.waits(own, item)
            ):
                sets.append([])
                items = 0
            sets[-1].append(holder)
            items |= item
        return sets if own is None else _rejoined(body, flow, sets, own)

    def _settle(self, body: Body, group: int, formed: list[GroupSet]) -> None:
        """Says who gives each set its id, and files the sets by what is in them."""
        for each in formed:
            for holder in each.holders:
                if holder.link is None:
                    body.own[group] = each
                for link in (*holder.inherited, holder.link):
                    if link is not None:
                        body.of_link[link, group] = each
                        each.links.append(link)
        if group in body.entered:
            inherited = body.own.get(group)
            if inherited is None and not self._every_call_site:
                inherited = formed[0]
            if inherited is not None:
                inherited.fate = Fate.INHERITED
                body.handed_up[group] = inherited
        elif len(formed) == 1 and body.scope.has_callers:
            formed[0].fate = Fate.EXPOSED
            body.handed_up[group] = formed[0]


def _bare(site: Site, inlined: Body, entered: frozenset[int]) -> int | None:
    """The id that only the op at `site` carries, nothing that is inlined there (S4). In a body
    entered with that id the op is one of its caller's like any other (S2)."""
    group = None if site.tag is None else site.tag.group
    return None if group in entered or group in inlined.handed_up else group


def _rejoined(body: Body, flow: Flow, sets: list[list[Holder]], own: Holder) -> list[list[Holder]]:
    """`sets`, with the one that holds the body's own ops and those that both wait for it and
    are waited for made one again, where that one has no gap (S5)."""
    first = next(number for number, formed in enumerate(sets) if own in formed)
    waited_for = flow.mask(sets[first])
    between = [
        number
        for number, formed in enumerate(sets)
        if number > first
        and flow.waits(own, flow.mask(formed))
        and any(flow.waits(each, waited_for) for each in formed)
    ]
    if not between:
        return sets
    joined = [each for number in (first, *between) for each in sets[number]]
    if not make_one_group(body, joined):
        return sets
    kept = [formed for number, formed in enumerate(sets) if number not in between]
    kept[first] = sorted(joined, key=lambda each: each.position)
    return kept


def _holders(body: Body) -> dict[int, list[Holder]]:
    """For each id of the body its holders in program order."""
    own: dict[int, Holder] = {}
    holders: dict[int, list[Holder]] = {}

    def own_at(group: int, position: int) -> Holder:
        holder = own.get(group)
        if holder is None:
            holder = own[group] = Holder(group, position)
            holders.setdefault(group, []).append(holder)
        holder.position = min(holder.position, position)
        return holder

    bare = {link.site.position for link in body.links if link.bare is not None}
    for tag in body.scope.tags:
        position = tag.positions[0]
        if tag.group is not None and tag.group not in body.tagged and position not in bare:
            body.tagged[tag.group] = position
            own_at(tag.group, position)
    for link in body.links:
        if link.bare is not None:
            alone = Holder(link.bare, link.site.position, link)
            holders.setdefault(link.bare, []).append(alone)
        for group, inner in link.body.handed_up.items():
            if inner.fate is Fate.INHERITED:
                own_at(group, link.site.position).inherited.append(link)
            else:
                holders.setdefault(group, []).append(Holder(group, link.site.position, link))
    for found in holders.values():
        found.sort(key=lambda holder: (holder.position, holder.link is not None))
    return holders


def _groups_below(index: Index) -> dict[Scope, frozenset[int]]:
    """For each scope the ids in it and in everything it calls or holds."""
    below: dict[Scope, frozenset[int]] = {}
    for function in callees_first(index):
        for scope in reversed(function.scopes):  # an inner scope comes after its outer one
            groups = {tag.group for tag in scope.tags if tag.group is not None}
            for site in scope.sites:
                if site.body is not None:
                    groups |= below[site.body]
                else:
                    groups |= below[index.functions[site.callee or ""].root]
            for region in scope.computations:
                groups |= below[region]
            below[scope] = frozenset(groups)
    return below


def callees_first(index: Index) -> list[Function]:
    """Every function after those it calls. Raises InputError where calls form a ring."""
    done: dict[Function, None] = {}
    for start in index.functions.values():
        path: dict[Function, Site | None] = {}
        stack: list[tuple[Function, Iterator[Site]]] = []
        if start not in done:
            path[start] = None
            stack.append((start, iter(_uses(start))))
        while stack:
            function, sites = stack[-1]
            site = next(sites, None)
            if site is None:
                done[function] = None
                path.popitem()
                stack.pop()
                continue
            callee = index.functions[site.callee or ""]
            if callee in path:
                raise _ring(path, callee, site)
            if callee not in done:
                path[callee] = site
                stack.append((callee, iter(_uses(callee))))
    return list(done)


def _uses(function: Function) -> list[Site]:
    return [*function.sites, *function.outlined]


def _ring(path: dict[Function, Site | None], start: Function, last: Site) -> Exception:
    functions = list(path)
    ring = functions[functions.index(start) :]
    calls = " -> ".join(f"@{function.name}" for function in (*ring, start))
    return complaint(last.op, f"recursive call, which XLA cannot inline: {calls}")
