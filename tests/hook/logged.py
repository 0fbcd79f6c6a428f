"""What the hook logs."""

from __future__ import annotations

import logging


class Logged(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("schedscope"):
            self._records.append(record)

    def at(self, level: int) -> list[str]:
        """The lines of that level, `logging.INFO` or another."""
        return [each.getMessage() for each in self._records if each.levelno == level]
