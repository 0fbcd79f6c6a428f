"""The checks on the pass's output find what is wrong: each is shown a module that is."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.cases import registry
from tests.random_programs.harm import harm
from tests.reference.checks import wrong
from tests.reference.modules import read
from tests.reference.rule import Rule
from tests.scoping import scope
from tests.xla.compilers import Verdict

EACH = Rule(every_call_site=True)


@cache
def before(name: str) -> str:
    return registry.lower_case(name, "gpu").text


@cache
def after(name: str, every_call_site: bool = False) -> str:
    return scope(before(name), every_call_site).text


def found(name: str, output: str, rule: Rule = EACH) -> list[str]:
    return wrong(read(before(name)), read(output), rule)


def replaced(text: str, pattern: str, replacement: str, count: int = 0) -> str:
    changed, made = re.subn(pattern, replacement, text, count=count)
    assert made, pattern
    return changed


def test_right_output_is_right() -> None:
    assert found("independent", after("independent", True)) == []
    assert found("twice", after("twice"), Rule()) == []


def test_untouched_input_is_wrong_where_calls_depend() -> None:
    messages = found("twice", before("twice"), Rule())
    assert any("no group for layer.0" in message for message in messages)
    assert any("which depend" in message for message in messages)


def test_torn_group() -> None:
    one_op = r'_scheduling_group_id = "0"(?=\}\} : \(tensor<256x256xf32>, tensor)'
    torn = replaced(before("once"), one_op, '_scheduling_group_id = "9"')
    messages = found("once", torn, Rule())
    assert "no group for layer: collective_permute dot_general" in messages
    assert "a group of layer: dot_general" in messages


def test_merged_ids() -> None:
    merged = replaced(before("crossed"), r'group_id = "2"', 'group_id = "1"')
    messages = found("crossed", merged, Rule())
    assert any("had different ids and now share one" in message for message in messages)


def test_lost_annotation() -> None:
    lost = replaced(before("once"), r"\{mhlo.frontend_attributes = [^}]*\}\}", "{}", count=1)
    assert any("annotation" in message for message in found("once", lost, Rule()))


def test_lost_attribute_of_another_kind() -> None:
    name = "mixed_order"
    lost = replaced(before(name), r', keep_original_sequence_order_in_group = "\w+"', "")
    assert any("became" in message for message in found(name, lost, Rule()))


def test_lost_iteration_id() -> None:
    lost = replaced(before("iteration_suffix"), r'"4:-1"', '"4"')
    assert any("4:-1" in message for message in found("iteration_suffix", lost, Rule()))


def test_missing_combiner_key() -> None:
    keyless = replaced(after("independent", True), r', combiner_key = "[^"]*"', "", count=1)
    assert any("has no combiner_key" in message for message in found("independent", keyless))


def test_shared_combiner_key() -> None:
    shared = replaced(after("independent", True), r'combiner_key = "[^"]*"', 'combiner_key = "k"')
    assert any("share the combiner_key k" in message for message in found("independent", shared))


def test_lost_prefix_of_a_key() -> None:
    lost = replaced(after("user_key", True), r'combiner_key = "mine', 'combiner_key = "')
    assert any("combiner_key mine became" in message for message in found("user_key", lost))


def test_key_on_an_op_in_no_group() -> None:
    other = replaced(
        before("once"),
        r"stablehlo.tanh %\d+",
        r'\g<0> {mhlo.frontend_attributes = {combiner_key = "k"}}',
    )
    assert any("is no collective" in message for message in found("once", other, Rule()))


def test_changed_program() -> None:
    other = replaced(before("once"), r"stablehlo.tanh", "stablehlo.sine")
    assert any("ops are not the same" in message for message in found("once", other, Rule()))


def compiled(*lines: str) -> Verdict:
    body = "\n".join(f"  {line}" for line in lines)
    return Verdict(True, "ok", "", f"ENTRY %main (p: f32[8]) -> f32[8] {{\n{body}\n}}")


MEMBER = '%a = f32[8]{0} all-gather(%p), frontend_attributes={_scheduling_group_id="0"}'
OTHER = '%b = f32[8]{0} fusion(%p), frontend_attributes={_scheduling_group_id="0"}'
PLAIN = "%b = f32[8]{0} fusion(%p)"


@pytest.mark.parametrize(
    ("raw", "fixed", "what"),
    [
        (compiled(MEMBER, OTHER), compiled(MEMBER, OTHER), []),
        (compiled(MEMBER, OTHER), compiled(MEMBER, PLAIN), ["group 0 had 1 of compute and has 0"]),
        (compiled(MEMBER), compiled(PLAIN), ["group 0 had 1 of collective and has 0"]),
        (Verdict(False, "gap", "gap", ""), Verdict(False, "stuck", "no", ""), []),
    ],
)
def test_harm_is_seen(raw: Verdict, fixed: Verdict, what: list[str]) -> None:
    assert harm(read(before("once")), raw, fixed) == what


def test_refusal_of_what_was_accepted_is_harm() -> None:
    [message] = harm(read(before("once")), compiled(MEMBER), Verdict(False, "stuck", "why", ""))
    assert message.endswith("why")
