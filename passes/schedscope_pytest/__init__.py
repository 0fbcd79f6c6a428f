"""The pytest plugin: a fixture that lints everything a test lowers with jax.

    def test_step(schedscope_lint):
        jax.jit(step).lower(state, batch)       # fails here if XLA would refuse the groups

pytest loads this in every run of every project that has schedscope installed, so what it needs is
imported where a test asks for the fixture. It is no part of the package `schedscope`, whose import
brings jaxlib.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from schedscope_pytest.watcher import Watcher


@pytest.fixture
def schedscope_lint(request: pytest.FixtureRequest) -> Iterator[Watcher]:
    """Lints everything lowered with jax during the test, as `[tool.schedscope]` in pyproject.toml
    says; what XLA would refuse fails the test. `findings` holds all that was found,
    `allow("SG101")` takes rules out, `target` may be set to "gpu", "tpu", "all", or one compiler.

    What jax compiled before, in another test for one, is not lowered again: `jax.clear_caches()`
    makes it so.
    """
    from schedscope_pytest.watcher import watching

    with watching(request.config.rootpath) as watcher:
        yield watcher


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    result = yield
    watcher = getattr(item, "funcargs", {}).get("schedscope_lint")
    if watcher is not None:
        watcher.check()
    return result
