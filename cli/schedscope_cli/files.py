"""Files named on the command line: `-` for the standard streams, replacement in one step.

Every OSError names the path as the user gave it.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

STREAM = "-"


def display_name(path: str) -> str:
    """How messages call an input."""
    return "<stdin>" if path == STREAM else path


def read(path: str) -> bytes:
    if path == STREAM:
        return sys.stdin.buffer.read()
    with _named(path), open(path, "rb") as file:
        return file.read()


def write(path: str, data: bytes) -> None:
    """Writes to standard output, a device or a pipe; a regular file is replaced."""
    if path == STREAM:
        sys.stdout.buffer.write(data)
        return
    with _named(path):
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)


def check_writable(path: str) -> None:
    """Raises OSError where writing is bound to fail, before any work is done."""
    if path == STREAM:
        return
    with _named(path):
        real = os.path.realpath(path)
        if os.path.isdir(real):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.exists(real):
            _refuse_read_only(real)
        os.stat(os.path.join(os.path.dirname(real), ""))  # fails unless that is a directory


@contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _replace(path: str, data: bytes) -> None:
    """A reader sees the old content or the new, never a part. Mode and owner stay; other hard
    links keep the old content."""
    before = os.stat(path) if os.path.exists(path) else None
    if before is not None:
        _refuse_read_only(path)
    directory = os.path.dirname(path)
    temporary = os.path.join(directory, f".schedscope-{os.getpid()}-{time.monotonic_ns()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if before is not None:
                _take_over(descriptor, before)
            os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _refuse_read_only(path: str) -> None:
    """To replace a file, the directory's permission is enough; a read-only file stays."""
    if not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def _take_over(descriptor: int, before: os.stat_result) -> None:
    """Gives a new file the owner and the mode of the one that it replaces."""
    with suppress(PermissionError):  # only root gives files away
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
