"""`schedscope lint`: what XLA will refuse, or ignore, at the Python line that caused it."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schedscope_cli import files
from schedscope_cli.messages import complaint, say
from schedscope_cli.options import Words, add_command
from schedscope_cli.status import CLEAN, FAILED, FOUND

if TYPE_CHECKING:
    from schedscope.lint.configuration import Configuration
    from schedscope.lint.render import Linted
    from schedscope.lint.rule import Rule

    from schedscope_cli.workers import Workers

TARGETS = ("gpu", "tpu", "all", "gpu-0.10", "v5e", "v6e", "tpu7x")
"""Those of `schedscope.lint`, which is not loaded to show the help."""

_HELP = "say what XLA will refuse or ignore, at the Python line that caused it"

_DESCRIPTION = """\
Says of each module what XLA will refuse about its scheduling groups (errors), what it may refuse or
will ignore in silence (warnings), and what is worth knowing (notes), at the Python line that caused
it. XLA is not asked. `schedscope rule` explains the rules.

FILE is MLIR text, MLIR bytecode, a StableHLO portable artifact, or the HLO text that XLA dumps as
module_....before_optimizations.txt, gzipped or not, told by its content; - is standard input.

RULES are codes (SG101), beginnings of codes (SG1) or names (gap-in-group), with commas. What the
command line does not say, [tool.schedscope] in the nearest pyproject.toml does: target, select and
ignore.
"""

_EPILOG = """\
exit status:
  0  nothing found but notes
  1  errors or warnings found
  2  a file could not be linted (the others are all the same), or wrong usage
"""


def add_parser(commands: Any) -> None:
    words = Words(_HELP, _DESCRIPTION, _EPILOG)
    parser = add_command(commands, "lint", run, words)
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="the module to read; - is standard input")
    target = "the compiler that will get it: gpu, tpu, all for both, or one by name (default: gpu)"
    add("--target", choices=TARGETS, help=target)
    formats = ("text", "json", "sarif", "github")
    add("--format", choices=formats, default="text", help="how to write it (default: text)")
    rules: dict[str, Any] = {"type": _words, "action": "extend", "metavar": "RULES"}
    add("--select", **rules, help="ask these rules only")
    add("--ignore", **rules, help="do not ask these rules, selected or not")
    add("-o", dest="output", default=files.STREAM, metavar="OUT", help="write it there")
    jobs = "lint N files at a time; 0: one on each core (default: 1)"
    add("-j", dest="jobs", type=_jobs, default=1, metavar="N", help=jobs)


def run(arguments: Namespace) -> int:
    if arguments.files.count(files.STREAM) > 1:
        arguments.usage_error("standard input can be read once only, and - is given more than once")
    if arguments.output in arguments.files and arguments.output != files.STREAM:
        arguments.usage_error(f"-o would overwrite {arguments.output}")
    from schedscope_cli.workers import Workers

    # They load what they need while this process does.
    workers = Workers(min(arguments.jobs or os.cpu_count() or 1, len(arguments.files)))
    try:
        return _run(arguments, workers)
    finally:
        workers.end()


def _run(arguments: Namespace, workers: Workers) -> int:
    from schedscope.errors import SchedscopeError
    from schedscope.lint.selection import select

    try:
        files.check_writable(arguments.output)
        settings = _settings(arguments)
        rules = select(settings.select, settings.ignore)
        linted = _linted(arguments.files, settings, rules, workers)
        text = _rendered(linted, rules, arguments)
        files.write(arguments.output, text.encode(errors="surrogateescape"))
    except BrokenPipeError:
        raise
    except SchedscopeError as error:
        say(f"schedscope: error: {error}")
        return FAILED
    except OSError as error:
        say(complaint(arguments.output, error))
        return FAILED
    for module in linted:
        if module.problem is not None:
            say(module.problem)
    return _status(linted)


def _settings(arguments: Namespace) -> Configuration:
    """What pyproject.toml says, and in its place what the command line says."""
    from pathlib import Path

    from schedscope.lint.configuration import Configuration, configuration

    found = configuration(Path.cwd())
    return Configuration(
        arguments.target or found.target,
        found.select if arguments.select is None else tuple(arguments.select),
        found.ignore if arguments.ignore is None else tuple(arguments.ignore),
    )


def _linted(
    paths: Sequence[str], settings: Configuration, rules: Sequence[Rule], workers: Workers
) -> list[Linted]:
    from schedscope_cli.lint_worker import Request
    from schedscope_cli.progress import Progress

    codes = frozenset(rule.code for rule in rules)
    requests = [
        Request(path, files.read(path) if path == files.STREAM else None, settings.target, codes)
        for path in paths
    ]
    return workers.lint(requests, Progress(len(paths)).step)


def _rendered(linted: Sequence[Linted], rules: Sequence[Rule], arguments: Namespace) -> str:
    """Each format's module is loaded where it is asked for."""
    if arguments.format == "json":
        from schedscope.lint.render import json

        return json.render(linted)
    if arguments.format == "sarif":
        from schedscope.lint.render import sarif

        return sarif.render(linted, rules, _version())
    if arguments.format == "github":
        from schedscope.lint.render import github

        return github.render(linted)
    from schedscope.lint.render import text
    from schedscope.lint.render.paint import Paint, wants_colour

    coloured = arguments.output == files.STREAM and wants_colour(sys.stdout)
    return text.render(linted, Paint(coloured))


def _status(linted: Sequence[Linted]) -> int:
    from schedscope.lint.diagnostic import Severity

    if any(module.problem is not None for module in linted):
        return FAILED
    found = (finding.severity for module in linted for finding in module.findings)
    return FOUND if any(each is not Severity.NOTE for each in found) else CLEAN


def _version() -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("schedscope")
    except PackageNotFoundError:
        return None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError(f"{text!r} is not a number of processes")
    return int(text)
