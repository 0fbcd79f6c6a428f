"""The README shows what the commands really print, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CompilerFor

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def shown(command: str) -> str:
    """The block under the README's mark for this command."""
    block = rf"<!-- output: {re.escape(command)} -->\n\n```\n(.*?)```\n"
    found: list[str] = re.findall(block, (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(found) == 1
    return found[0]


@pytest.mark.xla
def test_make_run_prints_what_the_readme_shows(compiler_for: CompilerFor) -> None:
    compiler_for("gpu")
    ran = subprocess.run(
        [sys.executable, ROOT / "examples" / "issue_25747.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    assert settled(ran.stdout) == settled(shown("make run"))


def settled(output: str) -> str:
    """Without what differs: jax's version, and which of several gaps XLA meets first."""
    version = re.compile(r"(?<=^1\. jax )\S+")
    gap = re.compile(r"(?<=annotation: )\d+|(?<=collective-permute-start)\.\d+")
    return gap.sub("_", version.sub("_", output))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), target
