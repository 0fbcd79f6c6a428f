"""The hook as each test finds it, not installed, and what it logs."""

from __future__ import annotations

import logging as python_logging
from collections.abc import Iterator

import pytest
from absl import logging
from schedscope import hook

from tests.hook.internals import internals
from tests.hook.logged import Logged
from tests.hook.programs import X, dependent
from tests.hook.sharded import SHARDED


@pytest.fixture(scope="session")
def _jax_is_awake() -> None:
    """It loads some of its own modules when they are first needed, and they add to its lists."""
    dependent().lower(X)
    pmapped, arguments, _ = SHARDED["pmap"]()
    pmapped.lower(*arguments)


@pytest.fixture(autouse=True)
def _jax_as_it_was(_jax_is_awake: None) -> Iterator[None]:
    before = internals()
    yield
    hook.uninstall()
    assert internals() == before


@pytest.fixture
def logged() -> Iterator[Logged]:
    """What is logged from INFO up."""
    verbosity = logging.get_verbosity()
    logger = python_logging.getLogger("absl")
    handler = Logged()
    logging.set_verbosity(logging.INFO)
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)
    logging.set_verbosity(verbosity)
