"""The reference against groups written by hand: what judges the pass is judged first."""

from __future__ import annotations

import pytest

from tests.cases import registry
from tests.cases.expected import ROWS, spelled
from tests.cases.kit import Family
from tests.reference.modules import described, read
from tests.reference.rule import Rule, partition


def test_every_case_has_a_row() -> None:
    assert registry.names() == sorted(ROWS)


@pytest.mark.parametrize("every_call_site", [False, True], ids=["needed", "each"])
@pytest.mark.parametrize("family", ["gpu", "tpu"])
@pytest.mark.parametrize("name", ROWS)
def test_rule_makes_the_groups_written_by_hand(
    name: str, family: Family, every_call_site: bool
) -> None:
    row = ROWS[name]
    found = [
        described(ops)
        for computation in read(registry.lower_case(name, family).bytecode)
        for sets in partition(computation, Rule(every_call_site)).values()
        for ops in sets
    ]
    wanted = [spelled(group, family) for group in (row.each if every_call_site else row.groups)]
    assert sorted(found) == sorted(wanted)
