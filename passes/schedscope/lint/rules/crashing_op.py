"""An annotated op at which a compiler that is still in use ends its process.

Why it fails: XLA:GPU of jax 0.10.2 dies of a signal at an all_to_all that carries a scheduling
group id; that of 0.12.0.1 takes it (measured). There is no message.

Example:

    with set_xla_metadata(_scheduling_group_id=0):
        y = jax.lax.all_to_all(x, "i", 0, 0, tiled=True)

What to write instead: the all_to_all outside the group, or a newer jax.

Fix: none.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla.targets import GPU_0_10


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    if module.target.family != "gpu":
        return
    for computation in module.view.computations:
        for group, nodes in computation.tagged.items():
            crashing = [each for each in nodes if computation.name(each) in GPU_0_10.crashes]
            if crashing:
                node = computation.node(crashing[0])
                kind = node.name.removeprefix("stablehlo.")
                yield rule.finds(
                    f"group {group} holds an {kind}, at which XLA:GPU of jax 0.10.2 crashes",
                    spot_of(node),
                    groups=(group,),
                    help=f"take the {kind} out of the group, or use a newer jax",
                )


RULE = Rule("SG206", "crashing-op", Severity.WARNING, check, __doc__ or "")
