"""SG103, malformed-annotation."""

from __future__ import annotations

import pytest
from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, found
from tests.lint_model.modules import add, function, permute


@pytest.mark.parametrize("text", ["abc", "-1", "1:2:3", "0:x", ""])
def test_what_xla_cannot_read(text: str) -> None:
    [finding] = found("SG103", function(permute("r", "x", text)))
    assert finding.severity is Severity.ERROR
    assert finding.message.startswith("malformed annotation: ")
    assert f'"{text}"' in finding.message
    assert finding.fixable is None


def test_what_xla_drops_unread_is_a_warning() -> None:
    [finding] = asked(function(add("r", "x", "w", "abc")))
    assert (finding.code, finding.severity) == ("SG103", Severity.WARNING)
    assert finding.message.endswith(", which XLA drops unread from an op of this kind")
    [finding] = found("SG103", function(permute("r", "x", "abc")), target="tpu")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize("text", ["0", "4:-1", "noop", ":3"])
def test_silent_where_it_can(text: str) -> None:
    assert found("SG103", function(permute("r", "x", text))) == []
