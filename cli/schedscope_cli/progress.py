"""A progress bar on standard error, where that is a terminal."""

from __future__ import annotations

import sys

_WIDTH = 30


class Progress:
    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._shown = total > 1 and sys.stderr.isatty()
        self._show()

    def step(self) -> None:
        self._done += 1
        self._show()

    def _show(self) -> None:
        if not self._shown:
            return
        if self._done == self._total:
            text = "\r\x1b[K"  # the line is taken away
        else:
            bar = "#" * (_WIDTH * self._done // self._total)
            text = f"\r[{bar:<{_WIDTH}}] {self._done} of {self._total}"
        sys.stderr.write(text)
        sys.stderr.flush()
