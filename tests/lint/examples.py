"""For every rule a small module where it is found, and a near miss where it is not."""

from __future__ import annotations

from typing import NamedTuple

from schedscope.lint.checker import TargetName

from tests.lint_model.modules import (
    UNARY,
    add,
    call,
    dot,
    function,
    gather,
    loop,
    permute,
    sine,
    tag,
)


class Example(NamedTuple):
    target: TargetName
    op: str
    """Which the finding points at."""
    groups: tuple[int, ...]
    found: tuple[str, ...]
    """The functions of a module of which lint says this and no more."""
    silent: tuple[str, ...]
    """Those of the near miss, of which it says nothing."""


def keep_order(op: str) -> str:
    return op.replace("{_sched", "{keep_original_sequence_order_in_group = true, _sched")


def all_to_all(name: str, x: str, group: int | None = None) -> str:
    sizes = "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64"
    extra = "" if group is None else f", {tag(group)}"
    return (
        f'%{name} = "stablehlo.all_to_all"(%{x}) {{{sizes}, '
        f"replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>{extra}}} : {UNARY}"
    )


def in_order(op: str) -> str:
    """The same op, told to keep its place in the group."""
    return op.replace(
        "_scheduling_group_id",
        'keep_original_sequence_order_in_group = "true", _scheduling_group_id',
    )


LAYER = function(permute("y", "x", 0), add("r", "y", "w"), name="layer")
PAIR = function(gather("y", "x", 0), dot("r", "y", "w", 0), name="pair")
HELPER = function(sine("r", "x"), name="helper")
UNMARKED = function(dot("y", "x", "w"), permute("r", "y"), name="unmarked")
MARKED = function(dot("y", "x", "w"), permute("r", "y", 3), name="marked")

EXAMPLES = {
    "SG101": Example(
        "gpu",
        "collective_permute",
        (5,),
        (function(permute("y", "x", 5), add("z", "y", "x"), permute("r", "z", 5)),),
        (function(permute("y", "x", 5), add("z", "y", "x"), permute("r", "z", 6)),),
    ),
    "SG102": Example(
        "gpu",
        "collective_permute",
        (0,),
        (function(call("y", "layer", "x", "w"), call("r", "layer", "y", "w")), LAYER),
        (
            function(
                call("y", "layer", "x", "w"), call("z", "layer", "w", "x"), add("r", "y", "z")
            ),
            LAYER,
        ),
    ),
    "SG103": Example(
        "gpu",
        "collective_permute",
        (),
        (function(permute("r", "x", "layer0")),),
        (function(permute("r", "x", "0:-1")),),
    ),
    "SG104": Example(
        "gpu",
        "collective_permute",
        (2**31,),
        (function(permute("r", "x", 2**31)),),
        (function(permute("r", "x", 2**31 - 1)),),
    ),
    "SG105": Example(
        "gpu",
        "all_gather",
        (0, 1),
        (function(gather("y", "x", 0), gather("z", "w", 1), add("r", "y", "z")),),
        (function(gather("y", "x", 0, "a"), gather("z", "w", 1, "b"), add("r", "y", "z")),),
    ),
    "SG106": Example(
        "v5e",
        "dot_general",
        (0, 1),
        (
            function(
                gather("a", "x", 0), gather("b", "w", 1),
                dot("c", "b", "w", 0), dot("d", "a", "w", 1), add("r", "c", "d"),
            ),
        ),
        (
            function(
                gather("a", "x", 0), gather("b", "a", 1),
                dot("c", "x", "w", 0), dot("d", "b", "w", 1), add("r", "c", "d"),
            ),
        ),
    ),
    "SG107": Example(
        "gpu",
        "collective_permute",
        (0,),
        (function(keep_order(permute("y", "x", 0)), permute("r", "y", 0)),),
        (function(keep_order(permute("y", "x", 0)), keep_order(permute("r", "y", 0))),),
    ),
    "SG108": Example(
        "v5e",
        "dot_general",
        (0,),
        (
            function(gather("y", "x", 0), call("z", "helper", "y", "w"), dot("r", "z", "w", 0)),
            HELPER,
        ),
        (
            function(gather("y", "x", 0), dot("z", "y", "w", 0), call("r", "helper", "z", "w")),
            HELPER,
        ),
    ),
    "SG109": Example(
        "gpu",
        "all_gather",
        (0,),
        (
            function(
                in_order(permute("y", "x", 0)), in_order(gather("z", "w", 0)), add("r", "y", "z")
            ),
        ),
        (function(in_order(permute("y", "x", 0)), in_order(gather("r", "y", 0))),),
    ),
    "SG201": Example(
        "v5e",
        "dot_general",
        (0,),
        (function(dot("y", "x", "w", 0), dot("r", "y", "w", 0)),),
        (function(gather("y", "x", 0), dot("r", "y", "w", 0)),),
    ),
    "SG202": Example(
        "gpu",
        "func.call",
        (3,),
        (function(call("r", "unmarked", "x", "w", group=3)), UNMARKED),
        (function(call("r", "marked", "x", "w", group=3)), MARKED),
    ),
    "SG203": Example(
        "gpu",
        "collective_permute",
        (0,),
        (
            function(
                permute("y", "x", 0), loop("r", "y", permute("d", "c", 0), result="d", turns=4)
            ),
        ),
        (
            function(
                permute("y", "x", 0), loop("r", "y", permute("d", "c", 1), result="d", turns=4)
            ),
        ),
    ),
    "SG204": Example(
        "tpu7x",
        "all_gather",
        (0,),
        (function(call("y", "pair", "x", "w"), call("r", "pair", "y", "w")), PAIR),
        (
            function(call("y", "pair", "x", "w"), call("z", "pair", "w", "x"), add("r", "y", "z")),
            PAIR,
        ),
    ),
    "SG205": Example(
        "v5e",
        "add",
        (0,),
        (
            function(
                gather("y", "x", 0), permute("p", "y"), dot("z", "x", "w", 0), add("r", "p", "z")
            ),
        ),
        (
            function(
                gather("y", "x", 0), permute("p", "x"), dot("z", "y", "w", 0), add("r", "p", "z")
            ),
        ),
    ),
    "SG206": Example(
        "gpu",
        "all_to_all",
        (0,),
        (function(permute("y", "x", 0), all_to_all("r", "y", 0)),),
        (function(permute("y", "x", 0), all_to_all("r", "y")),),
    ),
    "SG301": Example(
        "gpu",
        "dot_general",
        (0,),
        (function(permute("y", "x", 0), dot("r", "y", "w", 0)),),
        (function(permute("y", "x", 0), add("r", "y", "w", 0)),),
    ),
}  # fmt: skip
