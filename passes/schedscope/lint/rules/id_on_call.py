"""A call carries a group's id, and nothing in the function it calls does.

Why it does little: when XLA inlines the call it hands the id to the op that makes the result, and
to no other (measured), against what JAX's documentation of xla_metadata_call says.

Example:

    f = xla_metadata_call(_scheduling_group_id="3")(lambda x, w: (psum(x, "i"), x @ w))
    a, b = f(x, w)

What to write instead: `set_xla_metadata(_scheduling_group_id=3)` around the ops, in the function.

Fix: none by scoping, which gives each such call an id of its own where it needs one.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.flattening import Piece
from schedscope.lint.diagnostic import Diagnostic, Severity, spot_at
from schedscope.lint.rule import Module, Rule


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    flat, told = module.flat, dict[Piece, bool]()
    for marked in module.view.marked:
        callee = flat.callees.get(marked.number)
        group = marked.mark.group
        if callee is None or group is None or callee not in flat.functions:
            continue
        if not _holds_group(flat.functions[callee], module, told):
            yield rule.finds(
                f"the id {group} is on the call of @{callee} only, and no op in it has one",
                spot_at(marked.op, marked.op.name, group=group),
                groups=(group,),
                help="use set_xla_metadata inside the function",
            )


def _holds_group(piece: Piece, module: Module, known: dict[Piece, bool]) -> bool:
    """Whether an op in a function, or below it, carries an id. Calls itself along call chains,
    which `room_for` has made room for."""
    if piece in known:
        return known[piece]
    flat = module.flat
    known[piece] = False
    found = piece.has_group
    for op in piece.sites:
        callee = flat.callees.get(op)
        inner = [*flat.regions.get(op, ())]
        if callee is not None and callee in flat.functions:
            inner.append(flat.functions[callee])
        found = found or any(_holds_group(each, module, known) for each in inner)
    known[piece] = found
    return found


RULE = Rule("SG202", "id-on-call-only", Severity.WARNING, check, __doc__ or "")
