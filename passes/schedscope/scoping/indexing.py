"""From a module to its index, in one walk."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedscope import annotation, inlining
from schedscope._mlir import ADVANCE, INTERRUPT, PRE_ORDER, SKIP, block_of, bytecode_holds, ir
from schedscope.annotation import FRONTEND_ATTRIBUTES, GROUP_ID, Frontend, MalformedAnnotation
from schedscope.callgraph import (
    CALLED,
    CALLS,
    COLLECTIVES,
    PARTITIONABLE,
    PARTITIONED,
    PARTITIONS,
    SYMBOL,
    Collective,
    Function,
    Index,
    Scope,
    Site,
    Tag,
)
from schedscope.errors import InputError
from schedscope.explanation.diagnose import complaint

(
    _PLAIN,
    _DOT,
    _FUNCTION,
    _SYMBOL,
    _CALL,
    _COLLECTIVE,
    _REGIONS,
    _OUTLINED,
    _MODULE,
) = range(9)


def index_module(module: ir.Module) -> Index:
    """Walks `module` once. Raises InputError for a malformed annotation."""
    builder = _Builder(_partitions(module) > 1)
    module.operation.walk(builder.visit, PRE_ORDER)
    if builder.error is not None:
        raise builder.error
    builder.finish()
    return builder.index


def holds_annotations(module: ir.Module) -> bool:
    """Whether `module` may carry scheduling annotations. Most hold none, so this has to be cheap:
    it looks for their name in the bytecode, which spells out every string once. Half the time
    that one walk from Python would take (measured), it never misses one."""
    return bytecode_holds(module, GROUP_ID.encode())


def _partitions(module: ir.Module) -> int:
    attributes = module.operation.attributes
    if PARTITIONS not in attributes:
        return 1
    return int(ir.IntegerAttr(attributes[PARTITIONS]).value)


@dataclass(slots=True)
class _Place:
    """What a block belongs to."""

    scope: Scope
    in_reducer: bool = False
    follows: Tag | None = None
    plain: dict[ir.Attribute, Tag] = field(default_factory=dict)
    """The tags of its plain ops."""


class _Builder:
    def __init__(self, partitioned: bool) -> None:
        """`partitioned` says that XLA will split the module over several partitions."""
        self.index = Index()
        self.error: InputError | None = None
        self._roles: dict[str, int] = {}
        self._frontends: dict[ir.Attribute, Frontend] = {}
        self._places: dict[ir.Block, _Place] = {}
        self._position = 0
        self._partitioned = partitioned

    def visit(self, op: ir.Operation) -> ir.WalkResult:
        self._position += 1
        name = op.name
        role = self._roles.get(name)
        if role is None:
            role = self._roles[name] = _role(op)
        attributes = op.attributes
        if FRONTEND_ATTRIBUTES not in attributes:
            return ADVANCE if role <= _DOT else self._record(op, role, None)
        attribute = attributes[FRONTEND_ATTRIBUTES]
        if role == _DOT and not self._partitioned:
            role = _PLAIN
        if role == _PLAIN:
            place = self._places.get(block_of(op))
            tag = None if place is None else place.plain.get(attribute)
            if tag is not None:
                tag.positions.append(self._position)
                tag.targets.append(attributes)
                return ADVANCE
        try:
            frontend = self._frontend(attribute)
        except MalformedAnnotation as error:
            self.error = complaint(op, str(error))
            return INTERRUPT
        if role <= _DOT and frontend.annotation is None:
            return ADVANCE
        tag = Tag(frontend, [self._position], [attributes])
        if role == _PLAIN and place is not None:
            place.plain[attribute] = tag
        return self._record(op, role, tag)

    def finish(self) -> None:
        """Checks that every callee is there."""
        for function in self.index.functions.values():
            for site in (*function.sites, *function.outlined):
                callee = self.index.functions.get(site.callee or "")
                if callee is None:
                    missing = f"calls @{site.callee}, which is no function of the module"
                    raise complaint(site.op, missing)
                callee.called = True
        if self._partitioned:
            self._forget_manual()

    def _forget_manual(self) -> None:
        """In a manual computation the partitioner makes no collectives: what is reached only
        through one has none to come."""
        waiting = [function.root for function in self.index.entries()]
        reached = set(waiting)
        while waiting:
            scope = waiting.pop()
            inner = [*scope.computations, *(self._inlined(site) for site in scope.sites)]
            for each in inner:
                if each.op.name not in inlining.SPLICED and each not in reached:
                    reached.add(each)
                    waiting.append(each)
        for function in self.index.functions.values():
            for scope in function.scopes:
                if scope not in reached:
                    known = [each for each in scope.collectives if each.kind != PARTITIONED]
                    scope.collectives[:] = known

    def _inlined(self, site: Site) -> Scope:
        return site.body or self.index.functions[site.callee or ""].root

    def _frontend(self, attribute: ir.Attribute) -> Frontend:
        known = self._frontends.get(attribute)
        if known is None:
            known = self._frontends[attribute] = annotation.read(attribute)
        return known

    def _record(self, op: ir.Operation, role: int, tag: Tag | None) -> ir.WalkResult:
        place = None if role == _MODULE else self._places.get(block_of(op))
        if place is None:
            return self._record_symbol(op, role, tag)
        annotated = tag if tag is not None and tag.annotated else None
        if annotated is not None:
            if place.in_reducer:
                place.scope.followers.append((annotated, place.follows))
            else:
                place.scope.tags.append(annotated)
        if role == _CALL:
            self._record_call(op, place, annotated)
        elif role == _OUTLINED:
            self._record_outlined(op, place.scope.function)
        elif role == _COLLECTIVE and not place.in_reducer:
            place.scope.collectives.append(Collective(op.name, self._position, tag))
        elif self._partitioned and annotated is not None and op.name in PARTITIONABLE:
            place.scope.collectives.append(Collective(PARTITIONED, self._position, tag))
        if role in (_COLLECTIVE, _REGIONS):
            self._record_regions(op, place, annotated)
        return ADVANCE

    def _record_symbol(self, op: ir.Operation, role: int, tag: Tag | None) -> ir.WalkResult:
        if tag is not None and tag.annotated:
            self.index.stray.append((op, tag.frontend))
        if SYMBOL in op.attributes and role != _MODULE:
            symbol = ir.StringAttr(op.attributes[SYMBOL]).value
            self.index.symbols.add(symbol)
            if role == _FUNCTION:
                self._record_function(op, symbol)
        # A module within the module is a program of its own, or a kernel's.
        return SKIP if role == _MODULE and op.parent is not None else ADVANCE

    def _record_function(self, op: ir.Operation, name: str) -> None:
        visibility = "sym_visibility"
        private = visibility in op.attributes and "private" in str(op.attributes[visibility])
        function = Function(op, name, public=not private)
        self.index.functions[name] = function
        self._open(function, op, op.regions[0], None)

    def _open(
        self, function: Function, op: ir.Operation, region: ir.Region, owner_tag: Tag | None
    ) -> Scope:
        blocks = tuple(region.blocks)
        scope = Scope(function, len(function.scopes), blocks, op, self._position, owner_tag)
        function.scopes.append(scope)
        for block in blocks:
            self._places[block] = _Place(scope)
        return scope

    def _record_call(self, op: ir.Operation, place: _Place, tag: Tag | None) -> None:
        callee = ir.FlatSymbolRefAttr(op.attributes[CALLS[op.name]]).value
        function = place.scope.function
        site = Site(op, op.name, self._position, place.scope, tag, callee)
        if place.in_reducer:
            function.outlined.append(site)
        else:
            place.scope.sites.append(site)
            function.sites.append(site)

    def _record_outlined(self, op: ir.Operation, function: Function) -> None:
        if CALLED not in op.attributes:
            return
        for reference in ir.ArrayAttr(op.attributes[CALLED]):
            callee = ir.FlatSymbolRefAttr(reference).value
            function.outlined.append(Site(op, op.name, self._position, function.root, None, callee))

    def _record_regions(self, op: ir.Operation, place: _Place, tag: Tag | None) -> None:
        if place.in_reducer or op.name in inlining.REDUCERS:
            follows = place.follows if place.in_reducer else tag
            for region in op.regions:
                for block in region.blocks:
                    self._places[block] = _Place(place.scope, True, follows)
            if len(op.regions) and not place.in_reducer:
                place.scope.region_ops[op] = self._position
            return
        scope = place.scope
        spliced = inlining.spliced_region(op)
        if spliced is None:
            scope.region_ops[op] = self._position
        for number, region in enumerate(op.regions):
            inner = self._open(scope.function, op, region, tag)
            if number == spliced:
                inner.spliced = True
                scope.sites.append(Site(op, op.name, self._position, scope, tag, body=inner))
            else:
                scope.computations.append(inner)


def _role(op: ir.Operation) -> int:
    name = op.name
    if name == "builtin.module":
        return _MODULE
    if name == "func.func":
        return _FUNCTION
    if name in CALLS:
        return _CALL
    if name in COLLECTIVES:
        return _COLLECTIVE
    if name == "stablehlo.custom_call":
        return _OUTLINED
    if op.parent is not None and op.parent.name == "builtin.module":
        return _SYMBOL
    if len(op.regions):
        return _REGIONS
    return _DOT if name in PARTITIONABLE else _PLAIN
