"""SG101, gap-in-group."""

from __future__ import annotations

from schedscope import repair_module
from schedscope._mlir import ir, make_context
from schedscope.lint.checker import lint_module
from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, attributed, found, path
from tests.lint_model.modules import add, call, dot, function, gather, module_of, permute, reduce
from tests.lint_model.test_siblings import REDUCED


def test_one_op_outside() -> None:
    [finding] = found(
        "SG101", function(permute("a", "x", 5), add("s", "a", "w"), permute("r", "s", 5))
    )
    assert finding.severity is Severity.ERROR
    assert finding.message == (
        "group 5 has a gap: collective_permute needs collective_permute through add, which is not "
        "in the group"
    )
    assert path(finding) == ["collective_permute", "add", "collective_permute"]
    assert [related.message for related in finding.related] == [
        "from here, in group 5",
        "through this, outside the group",
    ]
    assert finding.groups == (5,)
    assert finding.help is not None
    assert finding.help.startswith("give what comes before and what comes after ids of their own")
    assert finding.fixable == "schedscope fix --repair"


def test_several_ops_outside_one_of_another_group() -> None:
    body = function(
        permute("a", "x", 5),
        add("s", "a", "w"),
        permute("t", "s", 6),
        add("u", "t", "w"),
        permute("r", "u", 5),
    )
    [finding] = found("SG101", body)
    assert "through 3 ops, not all of them in the group" in finding.message
    assert [related.message for related in finding.related][2] == "in group 6"


def test_the_copy_that_xla_makes() -> None:
    body = function(reduce("y", "x", 0), reduce("z", "y", 0), add("r", "y", "z"))
    [finding] = found("SG101", body)
    assert path(finding) == ["all_reduce", "copy", "all_reduce"]
    assert finding.related[1].message.startswith("through the copy that XLA makes of the operand")


def test_collectives_outside_that_xla_combines_are_all_named() -> None:
    [finding] = found("SG101", REDUCED)
    assert [related.message for related in finding.related] == [
        "from here, in group 0",
        "through this, outside the group, one of several that XLA combines",
        "through this, outside the group, one of several that XLA combines",
    ]
    assert path(finding) == ["all_reduce", "all_reduce", "all_reduce", "collective_permute"]


def test_silent_where_nothing_leads_back() -> None:
    body = function(permute("a", "x", 5), add("s", "a", "w"), permute("b", "x", 5))
    assert asked(body.replace("return %r", "return %s")) == []
    body = function(permute("a", "x", 5), permute("b", "a", 5), add("r", "b", "w"))
    assert asked(body) == []


def test_each_group_once_and_by_its_first_member() -> None:
    body = function(
        permute("a", "x", 7),
        permute("b", "a", 5),
        add("s", "b", "a"),
        permute("c", "s", 5),
        permute("r", "c", 7),
    )
    assert [finding.groups for finding in found("SG101", body)] == [(7,), (5,)]


def test_calls_that_span_on_purpose_are_told_to_part() -> None:
    """Scoping leaves a global id, so this is no collision."""
    ops = (attributed(permute("a", "x", 0), '_scheduling_group_scope = "global"'),)
    layer = function(*ops, add("r", "a", "w"), name="layer")
    body = function(call("a", "layer", "x", "w"), call("r", "layer", "a", "w"))
    [finding] = asked(layer, body)
    assert finding.code == "SG101"
    assert finding.help is not None
    assert finding.help.startswith("the op is inlined more than once: give each use an id of its ")
    with make_context():
        module = ir.Module.parse(module_of(layer, body))
        repair_module(module)
        assert lint_module(module) == []


def test_told_once_where_the_target_checks_functions_and_then_what_is_inlined() -> None:
    torn = function(gather("a", "x", 0), add("s", "a", "w"), dot("r", "s", "w", 0), name="torn")
    body = function(call("r", "torn", "x", "w"))
    for target in ("v5e", "tpu7x"):
        [finding] = asked(torn, body, target=target)
        assert (finding.code, path(finding)) == ("SG101", ["all_gather", "add", "dot_general"])
