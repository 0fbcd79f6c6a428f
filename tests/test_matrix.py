"""`make matrix`: what becomes of its results, and the README's table beside the requirements."""

from __future__ import annotations

import re
import sys
import tomllib

import pytest

from scripts import matrix
from scripts.matrix import ROOT, Result, Row

PASSED = {"tests.guarantees.test_a": 3, "tests.hook.test_b": 2, "tests.cli.test_c": 1}


def test_readme_names_every_version() -> None:
    """If not, the tests failed with one of them, or it is new: `make matrix`."""
    table = matrix.rows(matrix.README.read_text())
    assert list(table) == matrix.versions()
    pythons = {version: row.python for version, row in table.items()}
    assert pythons == {version: matrix.python_for(version) for version in table}


def test_oldest_version_is_the_one_that_packaging_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    floors = {name for names in lists for name in names if re.match("jax(lib)?>", name)}
    oldest = matrix.versions()[0]
    assert floors == {f"jax>={oldest}", f"jaxlib>={oldest}"}
    assert f"jaxlib {oldest} or newer" in matrix.README.read_text()


@pytest.mark.parametrize("version", matrix.versions())
def test_requirements_are_of_the_version(version: str) -> None:
    lines = matrix.requirements(version).read_text().splitlines()
    assert re.fullmatch(r"# Python 3\.\d+", lines[0])
    assert {f"jax=={version}", f"jaxlib=={version}"} < set(lines)


def test_only_a_version_that_passed_its_tests_gets_a_row() -> None:
    assert Result(0, PASSED, frozenset()).objection() is None
    assert Result(1, PASSED, frozenset()).objection() == "1 failed"
    skipped = {name: count for name, count in PASSED.items() if "hook" not in name}
    assert Result(0, skipped, frozenset()).objection() == "no test of the hook passed"
    assert Result(0, {}, frozenset()).objection() is not None


def test_result_is_read_from_junit() -> None:
    result = matrix.read_result(
        """<testsuites><testsuite>
        <testcase classname="tests.cli.test_a" name="a"/>
        <testcase classname="tests.cli.test_a" name="b"/>
        <testcase classname="tests.test_b" name="c"><failure message="no"/></testcase>
        <testcase classname="tests.test_b" name="d"><error message="no"/></testcase>
        <testcase classname="tests.test_b" name="e">
          <skipped message="jax 0.6.0 has no xla_metadata_call, which came with 0.8"/></testcase>
        <testcase classname="tests.test_b" name="f">
          <skipped message="libtpu not installed"/></testcase>
        <testcase classname="tests.test_b" name="g">
          <skipped type="pytest.xfail" message="not seen"/></testcase>
        </testsuite></testsuites>"""
    )
    assert result == Result(2, {"tests.cli.test_a": 2}, frozenset({"xla_metadata_call"}))


README = """Before
<!-- versions: make matrix -->

| jax | Python | not tried, for this jax has none |
|---|---|---|
| 0.6.0 | 3.11 | this, that |

<!-- end of versions -->
After
"""


def test_table_is_written_where_it_stands() -> None:
    table = matrix.rows(README)
    assert table == {"0.6.0": Row("3.11", "this, that")}
    assert matrix.with_rows(README, table) == README
    table["0.12.0.1"], table["0.7.2"] = Row("3.13", "-"), Row("3.11", "-")
    more = matrix.with_rows(README, table)
    assert list(matrix.rows(more)) == ["0.6.0", "0.7.2", "0.12.0.1"]
    assert matrix.with_rows(more, {"0.6.0": table["0.6.0"]}) == README


def test_versions_without_requirements_lose_their_row() -> None:
    row = Row("3.11", "-")
    assert matrix.rows(matrix.with_rows(README, {"0.1.0": row, "0.6.0": row})) == {"0.6.0": row}


def test_interpreter_is_of_the_wanted_version() -> None:
    this = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert matrix.interpreter(this, ["/no/such/python", sys.executable]) == sys.executable
    assert matrix.interpreter("3.4", [sys.executable]) is None
