"""docs/lint.md's table of the ops that keep their annotation, beside what lint goes by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from schedscope.xla.targets import TARGETS

PAGE = Path(__file__).parent.parent.parent / "docs" / "lint.md"
NAMES = ["gpu", "v5e", "v6e", "tpu7x"]
OTHER = "any other"


def table() -> Iterator[list[str]]:
    section = PAGE.read_text().split("## Which ops keep their annotation\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def told(target: str) -> dict[str, str]:
    """What the page says of each op that it names."""
    header, *rows = table()
    column = header.index(target)
    return {op: row[column] for row in rows for op in re.findall("`(.+?)`", row[0]) or [row[0]]}


def test_the_table_has_every_compiler() -> None:
    assert next(table()) == ["op", *NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_ops_that_keep_their_annotation(name: str) -> None:
    target = TARGETS[name]
    kept = {f"stablehlo.{op}" for op, said in told(name).items() if said in ("kept", "collective")}
    assert kept == target.members


@pytest.mark.parametrize("name", NAMES)
def test_collectives_that_keep_a_group(name: str) -> None:
    moving = {f"stablehlo.{op}" for op, said in told(name).items() if said == "collective"}
    assert moving == TARGETS[name].asynchronous


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_named_loses_it(name: str) -> None:
    ops = told(name)
    assert ops[OTHER] == "-"
    assert set(ops.values()) == {"kept", "collective", "-"} - ({"kept"} if name == "gpu" else set())


def test_groups_of_one_op() -> None:
    """As the text above the table says."""
    assert [name for name in NAMES if TARGETS[name].keeps_single] == ["gpu"]
