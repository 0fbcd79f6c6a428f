"""Rule S5: combiner keys, so that XLA merges no collective of a group with one outside it.

XLA:GPU's collective combiner merges independent collectives of one kind and joins their group
ids to one text, "0,1", which it then cannot read (measured on 0.10.2 and 0.12.0.1). It leaves
apart what differs in the frontend attribute `combiner_key`.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from schedscope.callgraph import PARTITIONED, Collective, Function, Scope, Site
from schedscope.scoping.bodies import Body, Fate, GroupSet, Link
from schedscope.scoping.dataflow import Dataflow, Flow, Group, Member, group_of
from schedscope.scoping.instances import Instance

Token: TypeAlias = GroupSet | int | tuple[Link, GroupSet] | None
"""A group as one body tells it from others: what is private to two calls of one body is two."""


_Key = TypeVar("_Key")


class KeyFinder:
    """Finds the collectives that need a key if they have none."""

    def __init__(self, dataflow: Dataflow) -> None:
        self.keyed: set[Collective] = set()
        self.keyed_spanning: set[tuple[int, str]] = set()
        """Ids that span calls, and kinds, of which every collective needs a key."""
        self._dataflow = dataflow
        self._census: dict[Body, dict[str, set[Group]]] = {}
        self._needs: dict[tuple[GroupSet, str], None] = {}
        self._marked: set[tuple[GroupSet, str]] = set()

    def examine(self, bodies: list[Body]) -> None:
        """Looks at every body, callees first, then marks what needs a key."""
        for body in bodies:
            self._hand_up_needs(body)
            if self._may_merge(body):
                self._compare(body, self._dataflow.flow(body))
        owners = {formed: body for body in bodies for sets in body.sets.values() for formed in sets}
        for formed, kind in self._needs:
            self._mark(owners, formed, kind)

    def _hand_up_needs(self, body: Body) -> None:
        """A key that a callee's part of a group needs, the whole group needs."""
        for (link, group), formed in body.of_link.items():
            inner = link.body.handed_up.get(group)
            if inner is None:
                continue
            for kind in self._census[link.body]:
                if (inner, kind) in self._needs:
                    self._needs.setdefault((formed, kind))

    def _may_merge(self, body: Body) -> bool:
        """True where collectives of one kind come from two places and are not all one group."""
        census: dict[str, set[Group]] = {}
        sources: dict[str, int] = {}
        tokens: dict[str, set[Token]] = {}
        for collective in body.scope.collectives:
            group = group_of(body, Member(collective.kind, collective))
            census.setdefault(collective.kind, set()).add(group)
            tokens.setdefault(collective.kind, set()).add(group)
            sources[collective.kind] = sources.get(collective.kind, 0) + 1
        for link in body.links:
            for kind, inner_groups in self._census[link.body].items():
                sources[kind] = sources.get(kind, 0) + 1
                for inner in inner_groups:
                    member = Member(kind, None, link, inner)
                    census.setdefault(kind, set()).add(group_of(body, member))
                    tokens.setdefault(kind, set()).add(_token(body, member))
                if link.bare is not None:  # the root may be one
                    census[kind].add(body.of_link[link, link.bare])
                    tokens[kind].add(body.of_link[link, link.bare])
        self._census[body] = census
        if PARTITIONED in census:  # of any kind
            return sum(sources.values()) > 1 and len(set().union(*tokens.values())) > 1
        return any(sources[kind] > 1 and len(tokens[kind]) > 1 for kind in census)

    def _compare(self, body: Body, flow: Flow) -> None:
        """Flags both of every pair that could merge and is not one group."""
        tokens = [_token(body, member) for member in flow.members]
        masks = _Masks()
        flagged = 0
        for member, token in zip(flow.members, tokens, strict=True):
            apart = member.before.missing & ((1 << member.batch) - 1)
            if member.before.until < member.batch:
                width = member.batch - member.before.until
                apart |= ((1 << width) - 1) << member.before.until
            rivals = apart and apart & masks.others(member.kind, token)
            if rivals:
                flagged |= rivals | 1 << member.item
            masks.add(member.kind, token, member.item)
        if not flagged:
            return
        for member, token in zip(flow.members, tokens, strict=True):
            if not flagged >> member.item & 1:
                continue
            if isinstance(token, int):
                self.keyed_spanning.add((token, member.kind))
            elif token is not None:
                formed = token[1] if isinstance(token, tuple) else token
                self._needs.setdefault((formed, member.kind))

    def _mark(self, owners: dict[GroupSet, Body], formed: GroupSet, kind: str) -> None:
        waiting = [formed]
        while waiting:
            formed = waiting.pop()
            if (formed, kind) in self._marked:
                continue
            self._marked.add((formed, kind))
            for collective in owners[formed].scope.collectives:
                tag = collective.tag
                if collective.kind == kind and tag is not None and tag.group == formed.group:
                    self.keyed.add(collective)
            for link in formed.links:
                root = link.site.root if link.bare == formed.group else None
                if root is not None and root.kind == kind:
                    self.keyed.add(root)
                inner = link.body.handed_up.get(formed.group)
                if inner is not None:
                    waiting.append(inner)


class _Masks:
    """Items by kind and group, as bit masks made when first asked for: a chain asks never."""

    def __init__(self) -> None:
        self._kinds: dict[str, tuple[int, list[int]]] = {}
        self._tokens: dict[Token, tuple[int, list[int]]] = {}

    def add(self, kind: str, token: Token, item: int) -> None:
        self._kinds.setdefault(kind, (0, []))[1].append(item)
        self._tokens.setdefault(token, (0, []))[1].append(item)

    def others(self, kind: str, token: Token) -> int:
        """The items that may be of `kind` and are not `token`'s."""
        found = 0
        for each in list(self._kinds) if kind == PARTITIONED else (kind, PARTITIONED):
            found |= self._mask(self._kinds, each)
        return found & ~self._mask(self._tokens, token)

    @staticmethod
    def _mask(table: dict[_Key, tuple[int, list[int]]], key: _Key) -> int:
        mask, pending = table.get(key, (0, []))
        if pending:
            for item in pending:
                mask |= 1 << item
            table[key] = (mask, [])
        return mask


def _token(body: Body, member: Member) -> Token:
    inner = member.inner
    if isinstance(inner, GroupSet) and inner.fate is Fate.PRIVATE and member.link is not None:
        return member.link, inner
    return group_of(body, member)


def assign_keys(
    instances: dict[Function, list[Instance]], finder: KeyFinder
) -> dict[tuple[Instance, Collective], str]:
    """New keys, by instance. A key that is there stays unless two groups share it; then all
    but the first get a longer one."""
    owners: dict[str, dict[int | None, None]] = {}
    placed: list[tuple[Instance, Collective, int | None]] = []
    for function, found in instances.items():
        located = _located(function)
        if not located:
            continue
        for instance in found:
            for holder, collective in located:
                tag = collective.tag
                group = None if tag is None else instance.id_of(tag, holder)
                placed.append((instance, collective, group))
                if tag is not None and tag.frontend.combiner_key is not None:
                    owners.setdefault(tag.frontend.combiner_key, {}).setdefault(group)
    naming = _Naming(owners)
    keys: dict[tuple[Instance, Collective], str] = {}
    for instance, collective, group in placed:
        tag = collective.tag
        if tag is None or group is None:
            continue
        present = tag.frontend.combiner_key
        if present is not None:
            wanted = naming.distinct(present, group)
        elif collective in finder.keyed or (tag.spanning, collective.kind) in finder.keyed_spanning:
            wanted = naming.key_of(group)
        else:
            continue
        if wanted != present:
            keys[instance, collective] = wanted
    return keys


def _located(function: Function) -> list[tuple[Scope | Site, Collective]]:
    """The function's collectives, and where an instance has their ids."""
    found: list[tuple[Scope | Site, Collective]] = []
    for scope in function.scopes:
        found += [(scope, each) for each in scope.collectives]
        found += [(site, site.root) for site in scope.sites if site.root is not None]
    return found


class _Naming:
    def __init__(self, owners: dict[str, dict[int | None, None]]) -> None:
        self._owners = owners
        self._used = set(owners)
        self._names: dict[tuple[str, int], str] = {}

    def distinct(self, key: str, group: int) -> str:
        """`key`, or a longer one of its own where `group` is not the first to use it."""
        first = next(iter(self._owners[key]))
        if None not in self._owners[key] and first == group:
            return key
        return self._name(key, group)

    def key_of(self, group: int) -> str:
        return self._name("schedscope", group)

    def _name(self, prefix: str, group: int) -> str:
        name = self._names.get((prefix, group))
        if name is None:
            name = f"{prefix}.{group}"
            while name in self._used:
                name += "_"
            self._used.add(name)
            self._names[prefix, group] = name
        return name
