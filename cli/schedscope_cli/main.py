"""The command's frame: subcommands, exit statuses, and what ends a run early.

A subcommand is a module with `add_parser`, listed in `_COMMANDS`. What it needs beyond the
arguments it imports when it runs: the command starts fast, and `--help` needs no MLIR.
"""

from __future__ import annotations

import os
import sys
from argparse import Action, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any

from absl import app, flags
from absl.flags import argparse_flags

from schedscope_cli import explain, fix, lint, rule, run
from schedscope_cli.status import FAILED

_COMMANDS = (fix, lint, rule, explain, run)

_DESCRIPTION = "XLA's scheduling groups, scoped to the call that made them."

_EPILOG = """\
exit status:
  0  done, or nothing to do
  1  found something: --check, lint
  2  could not do it
run ends as the program does.
"""


def entry() -> None:
    """The console script."""
    try:
        app.run(_run, flags_parser=lambda argv: _parse(argv[1:]))
    except SystemExit as stop:
        _end(stop.code if isinstance(stop.code, int) else FAILED)


def _end(status: int) -> None:
    """Ends the process at once: to take MLIR's context and jaxlib apart first costs a sixth of a
    run on a small file (measured)."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = FAILED
    os._exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command on `argv`, which has no program name, and returns its exit status."""
    try:
        return _run(_parse(sys.argv[1:] if argv is None else argv))
    except SystemExit as stop:  # how argparse ends --help and wrong usage
        return stop.code if isinstance(stop.code, int) else FAILED


def _parse(argv: Sequence[str]) -> Namespace:
    flags.FLAGS.mark_as_parsed()  # app.run insists; none of absl's own flags is offered
    parser = _Parser(
        prog="schedscope",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the versions that matter and exit"
    )
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_Parser
    )
    for command in _COMMANDS:
        command.add_parser(commands)
    own, program = run.split(argv)
    return parser.parse_args(own, Namespace(program=program))


def _run(arguments: Namespace) -> int:
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("schedscope: interrupted", file=sys.stderr)
    except BrokenPipeError:
        # The reader, `head` perhaps, has gone. Python flushes once more as it ends, and must not
        # find the same pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception:  # noqa: BLE001  status 1, Python's for an error, has a meaning of its own
        import traceback

        traceback.print_exc()
        print("schedscope: the error above is a bug in schedscope", file=sys.stderr)
    return FAILED


class _Parser(argparse_flags.ArgumentParser):
    """Without absl's flags, whose help and exit statuses are not this command's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(  # type: ignore[no-untyped-call]  # absl has no types
            inherited_absl_flags=None, add_help=False, allow_abbrev=False, **options
        )
        self.add_argument("-h", "--help", action="help", help="show this help and exit")


class _Version(Action):
    """Looks the versions up only when asked: that takes as long as starting Python."""

    def __call__(self, parser: Any, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        def found(name: str) -> str:
            try:
                return f"{name} {version(name)}"
            except PackageNotFoundError:
                return f"{name} (not installed)"

        python = sys.version.split()[0]
        print(f"{found('schedscope')}, {found('jaxlib')}, Python {python}")
        parser.exit()
