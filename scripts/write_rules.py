"""Writes docs/rules.md from the rules' own documentation."""

from pathlib import Path

from schedscope.lint.documentation import page
from schedscope.lint.rules import RULES

(Path(__file__).parent.parent / "docs" / "rules.md").write_text(page(RULES))
