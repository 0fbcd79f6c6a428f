"""Runs the tests with each jax of requirements/matrix, and writes the README's table of versions.

    python scripts/matrix.py [--python PYTHON]... [VERSION]...

Each version has an environment of its own in .matrix/, made once, on the Python that its
requirements name in their first line. A row of the table stands for a run without a failure;
where a test failed, the row goes. Rows of versions that were not run stay.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements" / "matrix"
README = ROOT / "README.md"
ENVIRONMENTS = ROOT / ".matrix"

PARTS = {"pass": "tests.guarantees", "hook": "tests.hook", "command": "tests.cli"}
"""What a version must have passed tests of: had all been skipped, nothing would have failed."""

TABLE = "tests/test_matrix.py::test_readme_names_every_version"
"""The test of the table, which is yet to be written."""

_TABLE = re.compile(
    r"(?<=<!-- versions: make matrix -->\n\n).*?(?=\n<!-- end of versions -->)", re.DOTALL
)
_ROW = re.compile(r"^\| ([\d.]+) \| ([\d.]+) \| (.*) \|$", re.MULTILINE)
_HEAD = "| jax | Python | not tried, for this jax has none |\n|---|---|---|\n"
_MISSING = re.compile(r"jax \S+ has no (.+), which came with ")


class Row(NamedTuple):
    python: str
    lacks: str
    """What skipped tests would have needed of jax."""


class Result(NamedTuple):
    failed: int
    passed: dict[str, int]
    """By module, as in `tests.cli.test_fix`."""
    lacks: frozenset[str]

    def objection(self) -> str | None:
        """Why this is no version to put in the table."""
        if self.failed:
            return f"{self.failed} failed"
        for part, tests in PARTS.items():
            if not any(name.startswith(f"{tests}.") for name in self.passed):
                return f"no test of the {part} passed"
        return None


def versions() -> list[str]:
    """Those with requirements, oldest first."""
    names = [path.stem.removeprefix("jax-") for path in REQUIREMENTS.glob("jax-*.txt")]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def requirements(version: str) -> Path:
    return REQUIREMENTS / f"jax-{version}.txt"


def python_for(version: str) -> str:
    """As in "3.11"."""
    first = requirements(version).read_text().splitlines()[0]
    return first.removeprefix("# Python ")


def rows(readme: str) -> dict[str, Row]:
    [table] = _TABLE.findall(readme)
    return {version: Row(python, lacks) for version, python, lacks in _ROW.findall(table)}


def with_rows(readme: str, table: Mapping[str, Row]) -> str:
    """In the order of `versions`; a version without requirements has no row."""
    lines = [
        f"| {version} | {row.python} | {row.lacks} |\n"
        for version in versions()
        if (row := table.get(version)) is not None
    ]
    return _TABLE.sub(lambda _: _HEAD + "".join(lines), readme)


def read_result(junit: str) -> Result:
    """What pytest's --junit-xml says."""
    failed = 0
    passed: dict[str, int] = {}
    lacks: set[str] = set()
    for case in ET.fromstring(junit).iter("testcase"):
        kinds = {outcome.tag for outcome in case}
        if kinds & {"failure", "error"}:
            failed += 1
        elif "skipped" not in kinds:
            module = case.get("classname", "")
            passed[module] = passed.get(module, 0) + 1
        for skipped in case.iter("skipped"):
            lacks.update(_MISSING.findall(skipped.get("message", "")))
    return Result(failed, passed, frozenset(lacks))


def interpreter(wanted: str, candidates: Iterable[str]) -> str | None:
    """The first that runs and is this version of Python."""
    for candidate in [*candidates, f"python{wanted}"]:
        ask = [candidate, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
        try:
            answer = subprocess.run(ask, capture_output=True, text=True, check=False)
        except OSError:
            continue
        if answer.stdout.strip() == wanted:
            return candidate
    return None


def environment(version: str, python: str) -> Path:
    """Its interpreter. Made again when what it is made of changes."""
    place = ENVIRONMENTS / version
    stamp = place / ".ready"
    parts = [requirements(version), REQUIREMENTS.parent / "pytest.txt", ROOT / "pyproject.toml"]
    state = python + "\n" + "".join(part.read_text() for part in parts)
    if not stamp.exists() or stamp.read_text() != state:
        make = ROOT / "scripts" / "make_env.sh"
        subprocess.run([make, python, place, requirements(version).relative_to(ROOT)], check=True)
        there = str(place / "bin" / "python")
        pip = [there, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        options = ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
        subprocess.run([*pip, *options], check=True)
        stamp.write_text(state)
    return place / "bin" / "python"


def run(version: str, python: Path) -> Result:
    print(f"\njax {version}", flush=True)
    junit = python.parent.parent / "junit.xml"
    junit.unlink(missing_ok=True)
    # The compilers are asked by `make test`; here they are not installed, and may be missing.
    inherited = {k: v for k, v in os.environ.items() if k != "SCHEDSCOPE_REQUIRE_XLA"}
    options = ["--quiet", "--numprocesses", "auto", f"--junit-xml={junit}", f"--deselect={TABLE}"]
    done = subprocess.run([python, "-m", "pytest", *options], cwd=ROOT, env=inherited, check=False)
    result = read_result(junit.read_text()) if junit.exists() else Result(0, {}, frozenset())
    # pytest says by its status alone that it did not come to the end.
    return result if done.returncode == 0 or result.failed else result._replace(failed=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", default=[sys.executable])
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="default: all")
    arguments = parser.parse_args()
    for version in arguments.versions:
        if version not in versions():
            parser.error(f"jax {version} has no requirements in {REQUIREMENTS.relative_to(ROOT)}")
    said: dict[str, str] = {}
    good = True
    for version in arguments.versions or versions():
        wanted = python_for(version)
        python = interpreter(wanted, arguments.python)
        if python is None:
            said[version] = f"not run: no Python {wanted} found"
            continue
        result = run(version, environment(version, python))
        objection = result.objection()
        good = good and objection is None
        said[version] = objection or f"{sum(result.passed.values())} passed"
        readme = README.read_text()
        table = rows(readme)
        table.pop(version, None)
        if objection is None:
            table[version] = Row(wanted, ", ".join(sorted(result.lacks)) or "-")
        README.write_text(with_rows(readme, table))
    print("\n" + "\n".join(f"jax {version}: {what}" for version, what in said.items()))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
