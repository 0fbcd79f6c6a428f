"""S8: everything that is not a group's id is kept."""

from __future__ import annotations

import re

import pytest

from tests.guarantees import notation
from tests.guarantees.programs import scope, scope_text

CALLS = """
    main(x):
      a = layer(x)  at jit(run)/jit(layer)
      b = layer(a)  at jit(run)/jit(layer)
      return b
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [("0:1", "1:1"), ("0:-1", "1:-1"), ("0:", "1:"), (":3", ":3"), ("noop", "noop")],
)
def test_iteration_ids_and_words_are_kept(before: str, after: str) -> None:
    found = scope(
        CALLS
        + f"""
    layer(x):
      y = permute(x) #0
      z = sine(x) #{before}
      return y
    """
    )
    texts = found.attributes("_scheduling_group_id")
    assert texts["layer.0/sine"] == before
    assert texts["layer.1/sine"] == after
    assert texts["layer.1/permute"] == "1"


OTHERS = '{keep_original_sequence_order_in_group = "true", _xla_stream_annotation = "1", zed = "q"}'


def test_other_frontend_attributes_are_kept() -> None:
    found = scope(
        CALLS
        + f"""
    layer(x):
      y = permute(x) #0 {OTHERS}
      return y
    """
    )
    for name, value in (
        ("keep_original_sequence_order_in_group", "true"),
        ("_xla_stream_annotation", "1"),
        ("zed", "q"),
    ):
        assert found.attributes(name) == {"layer.0/permute": value, "layer.1/permute": value}


def test_locations_are_kept_on_clones() -> None:
    found = scope(
        CALLS
        + """
    layer(x):
      y = permute(x) #0  at ppermute
      z = sine(y)  at sin
      return z
    """
    )
    lines = dict(re.findall(r'#(loc\d+) = loc\("train.py":(\d+):', found.located))
    frames = dict(re.findall(r'#(loc\d+) = loc\("step"\(#(loc\d+)\)\)', found.located))
    stacks = dict(re.findall(r'#(loc\d+) = loc\("[^"]+"\(#(loc\d+)\)\)', found.located))

    def lines_of(op: str) -> list[str]:
        names = re.findall(rf"{op}.* loc\(#(loc\d+)\)", found.located)
        return [lines[frames[stacks[name]]] for name in names]

    assert lines_of("collective_permute") == ["8", "8"]
    assert lines_of("stablehlo.sine") == ["9", "9"]
    assert lines_of(" call @layer") == ["3", "4"]


SIGNATURE = (
    '(%x: tensor<8x8xf32> {jax.buffer_donor = true, mhlo.layout_mode = "default"}) -> '
    '(tensor<8x8xf32> {jax.result_info = "result"}) attributes {llvm.emit = unit}'
)


def test_attributes_of_functions_arguments_and_results_are_kept() -> None:
    text = notation.module(
        CALLS
        + """
    layer(x):
      y = permute(x) #0
      return y
    """
    ).replace('@"layer"(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>)', '@"layer"' + SIGNATURE)
    assert "jax.buffer_donor" in text
    after = scope_text(text).text
    for kept in ("jax.buffer_donor", "mhlo.layout_mode", "jax.result_info", "llvm.emit"):
        assert after.count(kept) == 2


def test_meshes_and_shardings_are_kept() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = manual v(x):
        z = permute(v) #0
        yield z
      return y
    """)
    assert found.text.count('sdy.mesh @mesh = <["i"=4]>') == 1
    assert found.text.count("in_shardings=[<@mesh, [{}, {}]>]") == 2


def test_clones_are_private_and_the_function_keeps_its_visibility() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    public layer(x):
      y = permute(x) #0
      return y
    """)
    assert "func.func public @layer(" in found.text
    assert "func.func private @layer_0(" in found.text


def test_functions_stay_in_order_with_clones_behind_their_own() -> None:
    found = scope("""
    helper(x):
      y = permute(x) #0
      return y
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = helper(x)
      return y
    last(x):
      return x
    """)
    assert found.functions == ["helper", "helper_0", "main", "layer", "layer_0", "last"]


@pytest.mark.parametrize(
    ("symbol", "stack", "clone"),
    [
        ("layer", "jit(layer)", "layer_0"),
        ("layer_3", "jit(layer)", "layer_30"),
        ("layer_3", "jit(layer_3)", "layer_3_0"),
        ("<lambda>", "jit(<lambda>)", "<lambda>_0"),
        ("<lambda>_1", "jit(<lambda>)", "<lambda>_10"),
        ("shmap_body", "shard_map", "shmap_body_0"),
        ("closed_call_4", "closed_call", "closed_call_4_0"),
    ],
)
def test_a_clones_name_begins_with_the_functions_and_is_known_again(
    symbol: str, stack: str, clone: str
) -> None:
    """`scope` runs twice: the second run takes a call of the clone as the first took it."""
    found = scope(f"""
    main(x):
      y = permute(x) #1  at jit(run)/permute
      a = {symbol}(y)  at jit(run)/{stack}
      b = {symbol}(a)  at jit(run)/{stack}
      return b
    {symbol}(x):
      y = permute(x) #0  at permute
      z = sine(x) #1  at sin
      return y
    """)
    assert found.functions == ["main", symbol, clone]


@pytest.mark.parametrize("taken", ["layer_0", "layer_1"])
def test_a_clones_name_is_no_ones_yet(taken: str) -> None:
    found = scope(f"""
    main(x):
      a = layer(x)
      b = layer(a)
      c = layer(b)
      return c
    layer(x):
      y = permute(x) #0
      return y
    {taken}(x):
      return x
    """)
    names = {"layer_0", "layer_1", "layer_2"} - {taken}
    assert set(found.functions) == {"main", "layer", taken, *names}


def test_not_even_a_meshs() -> None:
    """jax calls its meshes mesh, mesh_0, and so on."""
    text = notation.module("""
    main(x):
      a = mesh(x)
      b = mesh(a)
      return b
    mesh(x):
      y = permute(x) #0
      return y
    """).replace("sdy.mesh @mesh ", "sdy.mesh @mesh_0 ")
    assert scope_text(text).functions == ["main", "mesh", "mesh_1"]
