"""What the package offers by name."""

from __future__ import annotations

import subprocess
import sys

import pytest
import schedscope


@pytest.mark.parametrize("name", schedscope.__all__)
def test_everything_public_is_there(name: str) -> None:
    assert getattr(schedscope, name).__name__ == name


def test_what_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'schedscope' has no attribute 'lint_modul'"):
        _ = schedscope.lint_modul


@pytest.mark.parametrize(("code", "loads"), [("pass", False), ("schedscope.lint_module", True)])
def test_the_rules_are_loaded_where_they_are_asked_for(code: str, loads: bool) -> None:
    probe = f"import sys, schedscope\n{code}\nsys.exit('schedscope.lint.rules' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == loads
