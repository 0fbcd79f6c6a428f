"""What `[tool.schedscope]` in pyproject.toml asks for.

[tool.schedscope]
target = "tpu"              # "gpu", "tpu", "all", or one compiler: "v5e"
select = ["SG1"]            # codes, beginnings of codes, or names
ignore = ["colliding-calls"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

from schedscope.errors import UsageError
from schedscope.lint.checker import TargetName
from schedscope.lint.selection import select


class Configuration(NamedTuple):
    target: TargetName = "gpu"
    select: tuple[str, ...] = ()
    """Empty: all."""
    ignore: tuple[str, ...] = ()


def configuration(directory: Path) -> Configuration:
    """That of the nearest pyproject.toml, from `directory` upward, with a `[tool.schedscope]`.

    Raises:
      UsageError: a file that cannot be read, an option or a value that is none.
    """
    for each in (directory, *directory.parents):
        path = each / "pyproject.toml"
        if path.is_file():
            table = _table(path)
            if table is not None:
                return _read(path, table)
    return Configuration()


def _table(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except (OSError, ValueError) as error:  # what tomllib raises is a ValueError
        raise UsageError(f"{path}: {error}") from error
    tool = document.get("tool")
    return tool.get("schedscope") if isinstance(tool, dict) else None


def _read(path: Path, table: Any) -> Configuration:
    where = f"{path}: [tool.schedscope]"
    if not isinstance(table, dict):
        raise UsageError(f"{where} is {table!r}, wanted a table")
    for name in table:
        if name not in _READERS:
            raise UsageError(f"{where} has no {name!r}; there are {', '.join(_READERS)}")
    read = Configuration(**{name: _value(where, name, table) for name in table})
    try:
        select(read.select, read.ignore)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    return read


def _value(where: str, name: str, table: Mapping[str, Any]) -> Any:
    reader, wanted = _READERS[name]
    value = reader(table[name])
    if value is None:
        raise UsageError(f"{where} {name} = {table[name]!r}, wanted {wanted}")
    return value


def _target(value: Any) -> str | None:
    return value if isinstance(value, str) and value in get_args(TargetName) else None


def _words(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return None
    return tuple(value)


_LIST = "a list of rules, such as ['SG101']"
_READERS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "target": (_target, f"one of {', '.join(get_args(TargetName))}"),
    "select": (_words, _LIST),
    "ignore": (_words, _LIST),
}
