"""What lint says of every case: each op at its place in the program, what the compilers said, and
nothing that scoping cures once the module is scoped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from schedscope._mlir import ir, make_context
from schedscope.lint.checker import TargetName, lint_module
from schedscope.lint.diagnostic import Diagnostic, Severity, Spot
from schedscope.locations import Frame

from tests import cases
from tests.cases.expected import ROWS
from tests.cases.kit import Family
from tests.cases.registry import lower_case
from tests.scoping import scope
from tests.xla.compilers import Kind, Target

PROGRAMS = Path(cases.__file__).parent
WRAPPER = PROGRAMS / "lowering.py"
FAMILIES: tuple[Family, ...] = ("gpu", "tpu")
WRITTEN = {
    "add": (" + ", " += "),
    "all_gather": ("all_gather(",),
    "collective_permute": ("ppermute(", "pshuffle("),
    "dot_general": (" @ ",),
    "func.call": ("both(", "layer("),
    "multiply": (" * ",),
    "sine": ("jnp.sin(",),
    "slice": ("all_gather(",),
    "tanh": ("jnp.tanh(",),
}
"""How the programs write what lint names."""
SUMS = {"call_level_grad": "ppermute("}
"""Where jax puts the addition of what comes back over the uses of a value."""
CODES: dict[Kind, set[str]] = {
    "gap": {"SG101", "SG102"},
    "two_ids": {"SG105"},
    "stuck": {"SG106", "SG205"},
    "abort": {"SG107"},
}
"""What lint may call it where a compiler refuses; nothing, of "other", which is not of groups."""
CALLS = {
    "twice": (["kit.layer(x, w), w)"], ["kit.layer(kit.layer(x, w), w)"]),
    "two_methods": (["kit.layer(x, w), w)"], ["kit.other_layer(kit.layer(x, w), w)"]),
    "nested": (
        ["block(x, w), w)", "kit.layer(x, w), w)"],
        ["block(x, w), w)", "kit.layer(kit.layer(x, w), w)"],
    ),
    "shared_helpers": (
        ["block(x, w, w), w, w * 2.0)", "attend(x, w) + prefetch(v[: x.shape[0]]))"],
        ["block(block(x, w, w), w, w * 2.0)", "attend(x, w) + prefetch(v[: x.shape[0]]))"],
    ),
    "library_calls": (["step(x, w)), w)"], ["step(jnp.tanh(step(x, w)), w)"]),
    "composite_twice": (["layer(x, w), w)"], ["layer(layer(x, w), w)"]),
    "grad_jitted": (["kit.layer(v, w), w) ** 2))(x)"], ["kit.layer(kit.layer(v, w), w) ** 2))(x)"]),
}
"""The lines of the calls to either end of a gap, from the call on, without the shard_map's."""


TARGETS: tuple[Target, ...] = ("gpu", "v5e", "tpu7x")
LIKELY = {("one_group_beside_dot", "v5e")}
"""Refused for a fusion, which the module does not show: lint warns."""


@cache
def findings(
    name: str, family: Family, scoped: bool, target: TargetName | None = None
) -> list[Diagnostic]:
    text = lower_case(name, family).text
    with make_context():
        module = ir.Module.parse(scope(text).text if scoped else text)
        return lint_module(module, target or family)


def spots(findings: list[Diagnostic]) -> Iterator[Spot]:
    for finding in findings:
        yield finding.spot
        yield from (each.spot for each in finding.related)


def source(frame: Frame, end: tuple[int, int] | None = None) -> str:
    """The line from the frame's column on, or up to `end`."""
    line = Path(frame.file).read_text().splitlines()[frame.line - 1]
    return line[frame.column : end[1] if end is not None and end[0] == frame.line else None]


@pytest.mark.parametrize("scoped", [False, True], ids=["raw", "scoped"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ROWS)
def test_ops_are_where_the_program_writes_them(name: str, family: Family, scoped: bool) -> None:
    for spot in spots(findings(name, family, scoped)):
        kind = spot.op.removeprefix("stablehlo.")
        text = source(spot.frames[0], spot.end)
        wanted = WRITTEN[kind] + ((SUMS[name],) if name in SUMS and kind == "add" else ())
        assert any(each in text for each in wanted), (spot.op, text)
        assert spot.position is None


@pytest.mark.parametrize("scoped", [False, True], ids=["raw", "scoped"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ROWS)
def test_frames_are_the_programs(name: str, family: Family, scoped: bool) -> None:
    for spot in spots(findings(name, family, scoped)):
        innermost = spot.frames[0], *spot.calls
        assert {Path(frame.file).parent for frame in innermost} == {PROGRAMS}


@pytest.mark.parametrize("name", CALLS)
def test_calls_lead_to_the_ends_of_a_gap(name: str) -> None:
    [gap] = [each for each in findings(name, "tpu", False) if each.code == "SG102"]
    for spot, wanted in zip((gap.related[0].spot, gap.spot), CALLS[name], strict=True):
        written = [source(each) for each in spot.calls if Path(each.file) != WRAPPER]
        assert written == wanted


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ROWS)
def test_codes_are_what_the_compilers_say(name: str, family: Family) -> None:
    kind = ROWS[name].outcome("gpu" if family == "gpu" else "v5e").raw
    refused = set().union(*CODES.values())
    found = {each.code for each in findings(name, family, False)} & refused
    assert bool(found) == (kind in CODES)
    assert found <= CODES.get(kind, set())


@pytest.mark.parametrize("scoped", [False, True], ids=["raw", "scoped"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ROWS)
def test_errors_are_refusals(name: str, target: Target, scoped: bool) -> None:
    outcome = ROWS[name].outcome(target)
    refused = (outcome.fixed if scoped else outcome.raw) in CODES
    family: Family = "gpu" if target == "gpu" else "tpu"
    found = findings(name, family, scoped, target)
    if (name, target) in LIKELY:
        assert "SG205" in {each.code for each in found}
        refused = False
    assert any(each.severity is Severity.ERROR for each in found) == refused


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ROWS)
def test_scoping_leaves_nothing_that_it_cures(name: str, family: Family) -> None:
    found = findings(name, family, True)
    assert {each.code for each in found}.isdisjoint({"SG102", "SG104", "SG105"})
    assert [each for each in found if each.fixable == "schedscope fix"] == []
