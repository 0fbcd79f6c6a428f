"""From planned bodies to instances: which id every group of every call path gets (S1, S7)."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedscope.annotation import GROUP_LIMIT
from schedscope.callgraph import Function, Scope, Site, Tag
from schedscope.explanation.diagnose import complaint
from schedscope.scoping.bodies import Body, Fate, GroupSet, Link
from schedscope.scoping.numbering import Numbering
from schedscope.scoping.planning import Planner


@dataclass(eq=False, slots=True)
class Path:
    """A call path, innermost site first."""

    site: Site
    outer: Path | None

    def sites(self) -> list[Site]:
        """From the entry inward."""
        found: list[Site] = []
        path: Path | None = self
        while path is not None:
            found.append(path.site)
            path = path.outer
        return found[::-1]


@dataclass(eq=False, slots=True)
class Instance:
    """A function with ids; every call path on which its ids come out the same shares it."""

    function: Function
    ids: dict[tuple[Scope | Site, int], int]
    """For each scope and each id of the scope's own ops, the id they get; for each site whose
    op carries an id, the id that one gets."""
    callees: dict[Site, Instance]
    symbol: str = ""

    def id_of(self, tag: Tag, holder: Scope | Site) -> int | None:
        """The id `tag` gets, an own op of a scope or the op of a site; None where it is in no
        group."""
        return tag.spanning if tag.group is None else self.ids[holder, tag.group]


@dataclass(eq=False, slots=True)
class Given:
    """A set, on the call path of the body that numbers it, and its id."""

    id: int
    formed: GroupSet
    body: Body
    path: Path | None


class _Computation:
    """The ids in use in one computation."""

    def __init__(self, numbering: Numbering, outer: dict[int, int] | None = None) -> None:
        """`outer` says what an id has become around the computation."""
        self._numbering = numbering
        self._outer = outer or {}
        self._used: set[int] = set()

    def take(self, group: int) -> int:
        """For the first set that asks for `group` that id, or what it has become outside; a
        fresh id for the others."""
        wanted = self._outer.get(group, group)
        chosen = wanted if wanted not in self._used else self._numbering.fresh()
        self._used.add(chosen)
        return chosen


@dataclass(slots=True)
class _Draft:
    """An instance in the making."""

    ids: dict[tuple[Scope | Site, int], int] = field(default_factory=dict)
    callees: dict[Site, Instance] = field(default_factory=dict)


class Instantiator:
    """Walks the instances from the entries, in program order."""

    def __init__(self, planner: Planner, numbering: Numbering) -> None:
        self.given: list[Given] = []
        """Every set of every computation, in the order in which they were numbered."""
        self.instances: dict[Function, list[Instance]] = {}
        self.homes: dict[Function, Instance] = {}
        """For each entry the instance that its own body becomes."""
        self._planner = planner
        self._numbering = numbering
        self._known: dict[object, Instance] = {}
        self._shared: dict[object, Instance] = {}
        self._regions: dict[tuple[Body, int | None], _Draft] = {}

    def enter(self, function: Function) -> None:
        """Numbers the computation whose entry is `function`, and those inside it."""
        body = self._planner.plan(function)
        if body.private_sets() > GROUP_LIMIT:
            raise complaint(
                function.op,
                f"the calls below @{function.name} make {body.private_sets()} groups when they are "
                f"inlined, and XLA:GPU can tell {GROUP_LIMIT} apart",
            )
        self.homes[function] = self._instance(body, {}, _Computation(self._numbering), None)

    def _instance(
        self, body: Body, given: dict[int, int], computation: _Computation, path: Path | None
    ) -> Instance:
        shared = None if body.numbers_itself() else (body, *sorted(given.items()))
        if shared is not None and path is not None:
            known = self._shared.get(shared)
            if known is not None:
                return known
        draft = _Draft()
        self._fill(draft, body, given, computation, path)
        for site in body.scope.function.outlined:
            draft.callees[site] = self._outlined(site)
        instance = self._interned(body.scope.function, draft)
        if shared is not None and path is not None:
            self._shared[shared] = instance
        return instance

    def _interned(self, function: Function, draft: _Draft) -> Instance:
        callees = ((site, id(callee)) for site, callee in draft.callees.items())
        key = (function, tuple(draft.ids.items()), tuple(callees))
        instance = self._known.get(key)
        if instance is None:
            instance = self._known[key] = Instance(function, draft.ids, draft.callees)
            self.instances.setdefault(function, []).append(instance)
        return instance

    def _outlined(self, site: Site) -> Instance:
        """A function that XLA keeps as a computation of its own: an entry like any other."""
        body = self._planner.plan(self._planner.index.functions[site.callee or ""])
        known = self._shared.get((body, "outlined"))
        if known is None:
            known = self._instance(body, {}, _Computation(self._numbering), None)
            self._shared[body, "outlined"] = known
        return known

    def _fill(
        self,
        draft: _Draft,
        body: Body,
        given: dict[int, int],
        computation: _Computation,
        path: Path | None,
    ) -> None:
        chosen: dict[GroupSet, int] = {}

        def id_of(formed: GroupSet) -> int:
            if formed not in chosen:
                handed = given.get(formed.group) if formed.fate is not Fate.PRIVATE else None
                if handed is None:
                    handed = computation.take(formed.group)
                    self.given.append(Given(handed, formed, body, path))
                chosen[formed] = handed
            return chosen[formed]

        for step in body.steps():
            if isinstance(step, int):
                draft.ids[body.scope, step] = id_of(body.own[step])
            elif isinstance(step, Link):
                inner = {group: id_of(body.of_link[step, group]) for group in step.body.handed_up}
                tag = step.site.tag
                if tag is not None and tag.group is not None:
                    alone = body.of_link[step, step.bare] if step.bare is not None else None
                    draft.ids[step.site, tag.group] = id_of(alone or body.own[tag.group])
                self._follow(draft, step, inner, computation, path)
            else:
                self._region(draft, step, body.scope)

    def _follow(
        self,
        draft: _Draft,
        link: Link,
        given: dict[int, int],
        computation: _Computation,
        path: Path | None,
    ) -> None:
        deeper = Path(link.site, path)
        if link.site.callee is None:
            self._fill(draft, link.body, given, computation, deeper)
        else:
            draft.callees[link.site] = self._instance(link.body, given, computation, deeper)

    def _region(self, draft: _Draft, body: Body, around: Scope) -> None:
        """A computation of its own: its ids are the same in every instance, for they meet no
        other computation's. Only where its op is in a group that has got a new id, the same
        group in it gets that too: the op still says whose group the calls in it are (S3)."""
        owner = body.scope.owner_tag
        outer: dict[int, int] = {}
        if owner is not None and owner.group in body.sets:
            outer[owner.group] = draft.ids.get((around, owner.group), owner.group)
        key = (body, next(iter(outer.values()), None))
        known = self._regions.get(key)
        if known is None:
            known = self._regions[key] = _Draft()
            self._fill(known, body, {}, _Computation(self._numbering, outer), None)
        draft.ids |= known.ids
        draft.callees |= known.callees
