"""An annotation is none that XLA can read.

Why XLA refuses it: it reads "G" or "G:I", a group id and an iteration id, both integers, the group
id not negative ("noop" and ":I" name no group). Of anything else it says "Instruction has a
non-integer scheduling annotation group id", "negative" or "more than 2 scheduling annotation
fields" (xla/service/scheduling_annotations_util.cc), and XLA:GPU of an empty one "stoi".

On an op whose annotation the compiler drops (docs/lint.md has the table) it is a warning.

Example:

    with set_xla_metadata(_scheduling_group_id="layer0"):
        y = x @ w

What to write instead: an integer, `_scheduling_group_id=0`.

Fix: none, for only you know which group was meant; `schedscope fix --repair` takes the annotation
off.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.annotation import GROUP_ID
from schedscope.lint.diagnostic import Diagnostic, Severity, spot_at
from schedscope.lint.rule import Module, Rule


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    for problem in module.problems:
        marked = problem.marked
        if marked.mark.malformed is not None:
            yield rule.finds(
                f"malformed annotation: {problem.what}"
                + ("" if problem.is_read else ", which XLA drops unread from an op of this kind"),
                spot_at(marked.op, marked.op.name),
                severity=None if problem.is_read else Severity.WARNING,
                help=f'write {GROUP_ID}=G with an integer G, or "G:I" with an iteration id I',
            )


RULE = Rule("SG103", "malformed-annotation", Severity.ERROR, check, __doc__ or "")
