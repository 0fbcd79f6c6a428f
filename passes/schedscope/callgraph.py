"""Functions, scopes, call sites and tags of a module, found in one walk.

A scope is a straight piece of program: a function's body, a region that XLA splices into what is
around it, or a region that stays a computation of its own (a loop body, a branch).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from schedscope import annotation, inlining
from schedscope._mlir import ADVANCE, INTERRUPT, PRE_ORDER, SKIP, block_of, ir
from schedscope.annotation import FRONTEND_ATTRIBUTES, Frontend, MalformedAnnotation
from schedscope.diagnose import complaint
from schedscope.errors import InputError

COLLECTIVES = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "collective_permute",
        "reduce_scatter",
    )
)
CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""Ops whose callee XLA inlines, and the attribute that names it."""
CALLED = "called_computations"
SYMBOL = "sym_name"


@dataclass(eq=False, slots=True)
class Tag:
    """One frontend attribute dictionary and the ops of one scope that carry it: many ops where
    they are plain ones, a single op where it is a call, a collective or has regions."""

    frontend: Frontend
    positions: list[int] = field(default_factory=list)
    """The numbers of the ops in a walk of the module, parents first."""
    targets: list[ir.OpAttributeMap] = field(default_factory=list)
    """Where the attribute is written."""
    group: int | None = None
    """The id whose instances the pass tells apart, None where there is none; set by numbering."""
    spanning: int | None = None
    """The id that spans calls, None where there is none; set by numbering."""

    @property
    def annotated(self) -> bool:
        return self.frontend.annotation is not None


@dataclass(eq=False, slots=True)
class Site:
    """An op that inlines a body: another function's, or a region of its own."""

    op: ir.Operation
    name: str
    """The op's."""
    position: int
    number: int
    """Its place among the sites of its function."""
    scope: Scope
    tag: Tag | None
    callee: str | None = None
    body: Scope | None = None


@dataclass(eq=False, slots=True)
class Collective:
    kind: str
    position: int
    tag: Tag | None


@dataclass(eq=False, slots=True)
class Scope:
    """One straight piece of a function."""

    function: Function
    number: int
    """Index in `function.scopes`."""
    blocks: tuple[ir.Block, ...]
    op: ir.Operation
    """The op that owns the region."""
    position: int = 0
    """That op's."""
    owner_tag: Tag | None = None
    """The tag of the op that owns the region."""
    tags: list[Tag] = field(default_factory=list)
    followers: list[tuple[Tag, Tag | None]] = field(default_factory=list)
    """Tags inside reducers, with the tag of the op they follow."""
    sites: list[Site] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)
    computations: list[Scope] = field(default_factory=list)
    """Regions in here that XLA keeps as computations of their own."""
    region_ops: dict[ir.Operation, int] = field(default_factory=dict)
    """Ops in here that own a region which is not spliced, and their positions."""
    spliced: bool = False

    @property
    def isolated(self) -> bool:
        """True where nothing from outside is used but what the op passes in."""
        return self.op.name == "func.func" or self.op.name in inlining.SPLICED

    @property
    def has_callers(self) -> bool:
        """True where some body inlines this one."""
        return self.spliced or (self.number == 0 and self.function.called)


@dataclass(eq=False, slots=True)
class Function:
    op: ir.Operation
    name: str
    public: bool
    called: bool = False
    """Some op inlines it."""
    scopes: list[Scope] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    """Calls of other functions, over all scopes."""
    site_count: int = 0
    outlined: list[Site] = field(default_factory=list)
    """Functions that an op names and XLA does not inline: `called_computations` of a custom
    call, calls inside a reducer."""

    @property
    def root(self) -> Scope:
        return self.scopes[0]

    def tags(self) -> Iterator[Tag]:
        """Every annotation in the function."""
        for scope in self.scopes:
            yield from scope.tags
            for tag, _ in scope.followers:
                yield tag


@dataclass(eq=False, slots=True)
class Index:
    """Everything the pass knows of a module before it decides anything."""

    functions: dict[str, Function] = field(default_factory=dict)
    stray: list[tuple[ir.Operation, Frontend]] = field(default_factory=list)
    """Annotations on symbols, where jax puts none and XLA reads none."""
    symbols: set[str] = field(default_factory=set)

    def resolve(self) -> None:
        """Checks that every callee is there. Raises InputError."""
        for function in self.functions.values():
            for site in (*function.sites, *function.outlined):
                callee = self.functions.get(site.callee or "")
                if callee is None:
                    raise complaint(
                        site.op, f"calls @{site.callee}, which is no function of the module"
                    )
                callee.called = True

    def tags(self) -> Iterator[Tag]:
        for function in self.functions.values():
            yield from function.tags()

    def entries(self) -> list[Function]:
        """`@main` where there is one, else every public function."""
        main = self.functions.get("main")
        if main is not None:
            return [main]
        return [function for function in self.functions.values() if function.public]


_PLAIN, _FUNCTION, _CALL, _COLLECTIVE, _REGIONS, _OUTLINED, _MODULE = range(7)


def index_module(module: ir.Module) -> Index:
    """Walks `module` once. Raises InputError for a malformed annotation."""
    builder = _Builder()
    module.operation.walk(builder.visit, PRE_ORDER)
    if builder.error is not None:
        raise builder.error
    builder.index.resolve()
    return builder.index


@dataclass(slots=True)
class _Place:
    """What a block belongs to."""

    scope: Scope
    in_reducer: bool = False
    follows: Tag | None = None
    plain: dict[ir.Attribute, Tag] = field(default_factory=dict)
    """The tags of its plain ops."""


class _Builder:
    def __init__(self) -> None:
        self.index = Index()
        self.error: InputError | None = None
        self._roles: dict[str, int] = {}
        self._frontends: dict[ir.Attribute, Frontend] = {}
        self._places: dict[ir.Block, _Place] = {}
        self._position = 0

    def visit(self, op: ir.Operation) -> ir.WalkResult:
        self._position += 1
        name = op.name
        role = self._roles.get(name)
        if role is None:
            role = self._roles[name] = _role(op)
        attributes = op.attributes
        if FRONTEND_ATTRIBUTES not in attributes:
            return ADVANCE if role == _PLAIN else self._record(op, role, None)
        attribute = attributes[FRONTEND_ATTRIBUTES]
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
        if role == _PLAIN and frontend.annotation is None:
            return ADVANCE
        tag = Tag(frontend, [self._position], [attributes])
        if role == _PLAIN and place is not None:
            place.plain[attribute] = tag
        return self._record(op, role, tag)

    def _frontend(self, attribute: ir.Attribute) -> Frontend:
        known = self._frontends.get(attribute)
        if known is None:
            known = self._frontends[attribute] = annotation.read(ir.DictAttr(attribute))
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

    def _site(
        self,
        op: ir.Operation,
        scope: Scope,
        tag: Tag | None,
        callee: str | None = None,
        body: Scope | None = None,
    ) -> Site:
        function = scope.function
        function.site_count += 1
        return Site(op, op.name, self._position, function.site_count - 1, scope, tag, callee, body)

    def _record_call(self, op: ir.Operation, place: _Place, tag: Tag | None) -> None:
        callee = ir.FlatSymbolRefAttr(op.attributes[CALLS[op.name]]).value
        function = place.scope.function
        site = self._site(op, place.scope, tag, callee)
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
            function.outlined.append(self._site(op, function.root, None, callee))

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
                scope.sites.append(self._site(op, scope, tag, body=inner))
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
    return _REGIONS if len(op.regions) else _PLAIN
