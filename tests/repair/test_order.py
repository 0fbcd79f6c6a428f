"""Members that are to keep their order."""

from __future__ import annotations

from schedscope.xla.aborts import ORDER

from tests.lint.examples import in_order
from tests.lint_model.modules import add, function, gather, permute
from tests.repair.modules import mended


def test_all_keep_it_where_some_do() -> None:
    body = function(in_order(permute("y", "x", 0)), gather("r", "y", 0))
    with mended("gpu", body) as (report, module):
        assert report.ordered == (0,)
        assert str(module).count(ORDER) == 2


def test_none_keeps_it_where_xla_cannot() -> None:
    body = function(in_order(permute("y", "x", 0)), gather("z", "w", 0), add("r", "y", "z"))
    with mended("gpu", body) as (report, module):
        assert report.ordered == (0,)
        assert ORDER not in str(module)


def test_where_xla_meets_one_that_does_not_first_nothing_is_done() -> None:
    body = function(permute("y", "x", 0), in_order(gather("r", "y", 0)))
    with mended("gpu", body) as (report, module):
        assert report.ordered == ()
        assert str(module).count(ORDER) == 1


def test_on_tpu_it_does_not_matter() -> None:
    body = function(in_order(permute("y", "x", 0)), gather("r", "y", 0))
    with mended("tpu", body) as (report, _):
        assert report.ordered == ()
