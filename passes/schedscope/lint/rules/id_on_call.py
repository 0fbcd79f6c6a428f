"""A call carries a group's id, and nothing in the function it calls does.

Why it does little: when XLA inlines the call it hands the id to the op that makes the result, and
to no other (measured), against what JAX's documentation of xla_metadata_call says.

Example:

    f = xla_metadata_call(_scheduling_group_id="3")(lambda x, w: (psum(x, "i"), x @ w))
    a, b = f(x, w)

What to write instead: `set_xla_metadata(_scheduling_group_id=3)` around the ops, in the function.

Fix: none by scoping, which gives each such call an id of its own where it needs one; `schedscope
fix --repair` puts the id on the collectives and matmuls in the function. It is safe.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_at
from schedscope.lint.rule import Module, Rule
from schedscope.xla.flat import Flat, Piece


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    flat, holding = module.flat, None
    for marked in module.view.marked:
        callee = flat.callees.get(marked.number)
        group = marked.mark.group
        if callee is None or group is None or callee not in flat.functions:
            continue
        if holding is None:
            holding = _holding_groups(flat)
        if flat.functions[callee] not in holding:
            yield rule.finds(
                f"the id {group} is on the call of @{callee} only, and no op in it has one",
                spot_at(marked.op, marked.op.name, group=group),
                groups=(group,),
                help="use set_xla_metadata inside the function; `schedscope fix --repair` tags the "
                "collectives and matmuls in it",
                fixable="schedscope fix --repair",
            )


def _holding_groups(flat: Flat) -> set[Piece]:
    """Functions and regions in which an op carries an id, or below which one does."""
    above: dict[Piece, list[Piece]] = {}
    pieces = [
        *flat.functions.values(),
        *(each for found in flat.regions.values() for each in found),
    ]
    for piece in pieces:
        for op in piece.sites:
            below = [*flat.regions.get(op, ())]
            callee = flat.callees.get(op)
            if callee is not None and callee in flat.functions:
                below.append(flat.functions[callee])
            for each in below:
                above.setdefault(each, []).append(piece)
    waiting = [piece for piece in pieces if piece.has_group]
    found = set(waiting)
    for piece in waiting:
        for each in above.get(piece, ()):
            if each not in found:
                found.add(each)
                waiting.append(each)
    return found


RULE = Rule("SG202", "id-on-call-only", Severity.WARNING, check, __doc__ or "")
