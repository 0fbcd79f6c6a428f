"""Findings in the formats that people and programs read; one format, one file."""

from schedscope.lint.render.place import Linted

__all__ = ["Linted"]
