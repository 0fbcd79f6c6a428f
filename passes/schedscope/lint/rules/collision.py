"""One id is used by calls that depend on each other: a function with groups is called more than
once, or two functions have chosen the same id.

Why XLA refuses it: it inlines every call, and finds the ops of all of them in one group, with a
gap between the first call and the second.

Example:

    @jax.jit
    def layer(x, w):
        with set_xla_metadata(_scheduling_group_id=0):
            y = jax.lax.ppermute(x, "i", perm)
            z = x @ w
        return jnp.tanh(y + z)

    layer(layer(x, w), w)               # openxla/xla issue 25747

What to write instead: nothing. Install the hook (`schedscope.hook.install()`), run the program
with `schedscope run`, or fix the module with `schedscope fix`.

Fix: `schedscope fix` gives the calls ids of their own. It is safe: results do not change by a bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_of
from schedscope.lint.gap_paths import is_collision, path_in_words, steps
from schedscope.lint.rule import Module, Rule


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    for gap in module.gaps:
        if is_collision(gap, module):
            yield rule.finds(
                f"group {gap.group} belongs to several calls: {path_in_words(gap)}",
                spot_of(gap.path[-1]),
                steps(gap),
                groups=(gap.group,),
                help="`schedscope fix` gives each call groups of its own; so does the hook",
                fixable="schedscope fix",
            )


RULE = Rule("SG102", "colliding-calls", Severity.ERROR, check, __doc__ or "")
