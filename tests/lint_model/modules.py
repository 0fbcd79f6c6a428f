"""Small modules, written down as the ops of their functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schedscope._mlir import ir, make_context
from schedscope.xla.targets import TARGETS
from schedscope.xla.xla_view import View, view

T = "tensor<4x4xf32>"
UNARY = f"({T}) -> {T}"
GROUPS = "dense<[[0, 1]]> : tensor<1x2xi64>"


def tag(group: int | str | None, key: str | None = None) -> str:
    entries = [] if group is None else [f'_scheduling_group_id = "{group}"']
    entries += [] if key is None else [f'combiner_key = "{key}"']
    return f"mhlo.frontend_attributes = {{{', '.join(entries)}}}" if entries else ""


def _attributes(*parts: str) -> str:
    return f"{{{', '.join(filter(None, parts))}}}"


def dot(name: str, x: str, y: str, group: int | str | None = None) -> str:
    numbers = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    return (
        f'%{name} = "stablehlo.dot_general"(%{x}, %{y}) '
        f"{_attributes(f'dot_dimension_numbers = {numbers}', tag(group))} : ({T}, {T}) -> {T}"
    )


def _unary(name: str, kind: str, x: str, *attributes: str) -> str:
    return f'%{name} = "stablehlo.{kind}"(%{x}) {_attributes(*attributes)} : {UNARY}'


def permute(name: str, x: str, group: int | str | None = None, key: str | None = None) -> str:
    pairs = "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"
    return _unary(name, "collective_permute", x, pairs, tag(group, key))


def gather(name: str, x: str, group: int | str | None = None, key: str | None = None) -> str:
    groups = f"all_gather_dim = 0 : i64, replica_groups = {GROUPS}"
    return (
        f'%{name} = "stablehlo.all_gather"(%{x}) {_attributes(groups, tag(group, key))} : {UNARY}'
    )


def reduce(name: str, x: str, group: int | str | None = None) -> str:
    return (
        f'%{name} = "stablehlo.all_reduce"(%{x}) ({{\n'
        "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
        "  %s = stablehlo.add %a, %b : tensor<f32>\n"
        "  stablehlo.return %s : tensor<f32>\n"
        f"}}) {_attributes(f'replica_groups = {GROUPS}', tag(group))} : {UNARY}"
    )


def sine(name: str, x: str) -> str:
    return f"%{name} = stablehlo.sine %{x} : {T}"


def add(name: str, x: str, y: str, group: int | str | None = None) -> str:
    extra = "" if group is None else f" {{{tag(group)}}}"
    return f"%{name} = stablehlo.add %{x}, %{y}{extra} : {T}"


def call(name: str, function: str, *operands: str, group: int | None = None) -> str:
    extra = "" if group is None else f" {{{tag(group)}}}"
    passed, types = ", ".join(f"%{each}" for each in operands), ", ".join([T] * len(operands))
    return f"%{name} = func.call @{function}({passed}){extra} : ({types}) -> {T}"


def loop(name: str, x: str, *body: str, result: str, turns: int) -> str:
    """A loop of so many turns; its state is %c, which starts as `x`."""
    ops = "\n".join(body)
    return f"""
%{name}_zero = stablehlo.constant dense<0> : tensor<i32>
%{name}_n, %{name} = "stablehlo.while"(%{name}_zero, %{x}) ({{
^bb0(%i: tensor<i32>, %c: {T}):
  %end = stablehlo.constant dense<{turns}> : tensor<i32>
  %test = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %test : tensor<i1>
}}, {{
^bb0(%i: tensor<i32>, %c: {T}):
  {ops}
  %one = stablehlo.constant dense<1> : tensor<i32>
  %next = stablehlo.add %i, %one : tensor<i32>
  stablehlo.return %next, %{result} : tensor<i32>, {T}
}}) : (tensor<i32>, {T}) -> (tensor<i32>, {T})"""


def function(*ops: str, result: str = "r", name: str = "main") -> str:
    """A function of %x and %w."""
    visibility = "public" if name == "main" else "private"
    return "\n".join(
        [
            f"func.func {visibility} @{name}(%x: {T}, %w: {T}) -> {T} {{",
            *ops,
            f"return %{result} : {T}",
            "}",
        ]
    )


def module_of(*functions: str) -> str:
    """The whole module's text."""
    return "module attributes {mhlo.num_partitions = 2 : i32} {\n" + "\n".join(functions) + "\n}"


@contextmanager
def seen(target: str, *functions: str) -> Iterator[View]:
    """What XLA for `target` sees; alive inside the context."""
    with make_context():
        yield view(ir.Module.parse(module_of(*functions)), TARGETS[target])
