"""XLA drops the annotation of some ops of a group that it keeps.

Why it matters: those ops are free to run elsewhere. Which kinds of ops keep their annotation
depends on the compiler (docs/lint.md has the table): on XLA:TPU collectives that move data without
reducing it lose it, on XLA:GPU matmuls do, on both elementwise ops.

Example: on XLA:TPU the matmul and the all-gather stay in the group, and the sine does not.

    with set_xla_metadata(_scheduling_group_id=0):
        y = jax.lax.all_gather(x, "i")
        z = jnp.sin(x @ w)

What to write instead: nothing, unless you counted on those ops.

Fix: none.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_of
from schedscope.lint.rule import Module, Rule

_TELLING = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_to_all",
        "case",
        "collective_broadcast",
        "collective_permute",
        "convolution",
        "custom_call",
        "dot",
        "dot_general",
        "if",
        "while",
    )
)
"""The kinds worth a word; of elementwise ops everyone knows."""


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    names = module.flat.names
    for computation in module.view.computations:
        group_of, ops = computation.membership.group_of, computation.graph.ops
        for group in computation.membership.members:
            nodes = [
                node
                for node in computation.tagged.get(group, ())
                if node not in group_of and names[ops[node]] in _TELLING
            ]
            if not nodes:
                continue
            kinds = sorted({computation.name(node).removeprefix("stablehlo.") for node in nodes})
            yield rule.finds(
                f"XLA:{module.target.family.upper()} drops the annotation of {len(nodes)} "
                f"op{'' if len(nodes) == 1 else 's'} of group {group}: {', '.join(kinds)}",
                spot_of(computation.node(nodes[0])),
                groups=(group,),
            )


RULE = Rule("SG301", "dropped-annotation", Severity.NOTE, check, __doc__ or "")
