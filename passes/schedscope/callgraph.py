"""Functions, scopes, call sites and tags: what the pass knows of a module before it decides.

A scope is a straight piece of program: a function's body, a region that XLA splices into what is
around it, or a region that stays a computation of its own (a loop body, a branch).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from schedscope import inlining
from schedscope._mlir import ir
from schedscope.annotation import Frontend

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
PARTITIONED = "partitioned"
"""The kind of a tagged op of which XLA's partitioner may make a collective, of any kind, that
carries the op's frontend attributes (measured: a dot whose contracted dimension is sharded)."""
PARTITIONABLE = frozenset(
    f"stablehlo.{name}" for name in ("convolution", "dot", "dot_general", "reduce")
)
CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""Ops whose callee XLA inlines, and the attribute that names it."""
CALLED = "called_computations"
PARTITIONS = "mhlo.num_partitions"
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
    scope: Scope
    tag: Tag | None
    callee: str | None = None
    body: Scope | None = None
    root: Collective | None = None
    """Where only the op carries an id, and what makes its one result is a collective: XLA hands
    the op's attributes on to that. Found by the sweep."""


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
    """Calls of other functions, over all scopes, in program order."""
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

    def tags(self) -> Iterator[Tag]:
        for function in self.functions.values():
            yield from function.tags()

    def entries(self) -> list[Function]:
        """`@main` where there is one, else every public function."""
        main = self.functions.get("main")
        if main is not None:
            return [main]
        return [function for function in self.functions.values() if function.public]
