"""Colours for terminals, or none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TextIO

from schedscope.lint.diagnostic import Severity

_BY_SEVERITY = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;36"}


@dataclass(frozen=True)
class Paint:
    coloured: bool = False

    def severity(self, text: str, severity: Severity) -> str:
        return self._in(text, _BY_SEVERITY[severity])

    def strong(self, text: str) -> str:
        return self._in(text, "1")

    def margin(self, text: str) -> str:
        return self._in(text, "1;34")

    def _in(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.coloured and text else text


def wants_colour(stream: TextIO) -> bool:
    """Of a terminal, unless the environment says no (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain
