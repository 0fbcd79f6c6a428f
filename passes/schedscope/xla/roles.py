"""What lint has to do with an op, by its name."""

from __future__ import annotations

from schedscope import inlining
from schedscope.callgraph import CALLS, COLLECTIVES

_TERMINATORS = frozenset({"func.return", "mhlo.return", "sdy.return", "stablehlo.return"})
(
    PLAIN,
    CONSTANT,
    NESTED,
    CUSTOM,
    CALL,
    EFFECT,
    REGIONS,
    TERMINATOR,
) = range(8)
_EFFECTS = frozenset(
    f"stablehlo.{name}" for name in ("infeed", "outfeed", "recv", "rng", "send", "create_token")
)


def role_of(name: str) -> int:
    if name == "stablehlo.constant":
        return CONSTANT
    if name in _TERMINATORS:
        return TERMINATOR
    if name in CALLS:
        return CALL
    if name == "stablehlo.custom_call":
        return CUSTOM
    if name in _EFFECTS:
        return EFFECT
    if name in inlining.SPLICED or name in inlining.BRANCHES or name == "stablehlo.while":
        return REGIONS
    if name in COLLECTIVES or name in inlining.REDUCERS or not name.startswith("stablehlo."):
        return NESTED
    return PLAIN
