"""What is read out of bytecode is what the bindings say, and unknown bytes are refused."""

from __future__ import annotations

import pytest
from schedscope._mlir import ADVANCE, PRE_ORDER, Value, bytecode_of, ir, make_context
from schedscope.xla import bytecode
from schedscope.xla.bytecode import BLOCK, END, REGION, Bytecode, BytecodeError, Event

NESTED = """
module @m attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %a:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
      cond {
        %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      } do {
        %b:2 = stablehlo.while(%j = %zero, %w = %v) : tensor<i32>, tensor<4xf32>
          cond {
            %more = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %more : tensor<i1>
          } do {
            %c = stablehlo.add %w, %x {mhlo.frontend_attributes = {k = "1"}} : tensor<4xf32>
            stablehlo.return %j, %c : tensor<i32>, tensor<4xf32>
          }
        %d = func.call @inner(%b#1) : (tensor<4xf32>) -> tensor<4xf32>
        stablehlo.return %b#0, %d : tensor<i32>, tensor<4xf32>
      }
    %e:3 = stablehlo.optimization_barrier %a#1, %a#0, %x
      : tensor<4xf32>, tensor<i32>, tensor<4xf32>
    %f = stablehlo.concatenate %e#0, %e#2, %e#0, dim = 0
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
    %g = stablehlo.slice %f [0:4] : (tensor<12xf32>) -> tensor<4xf32>
    return %g, %e#1 : tensor<4xf32>, tensor<i32>
  }
  module @apart {
    func.func @f(%x: tensor<f32>) -> tensor<f32> {
      return %x : tensor<f32>
    }
  }
  func.func private @outside(tensor<f32>)
  func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.add %x, %x {mhlo.frontend_attributes = {k = "1"}} : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
"""


def parse(text: str) -> ir.Module:
    return ir.Module.parse(text, make_context())


def walked(module: ir.Module) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ADVANCE

    module.operation.walk(visit, PRE_ORDER)
    return found


def blocks_in_order(op: ir.Operation) -> list[ir.Block]:
    """Those of `op` and of the ops within, as a walk meets them."""
    found: list[ir.Block] = []
    for region in op.regions:
        for block in region.blocks:
            found.append(block)
            for view in block.operations:
                found += blocks_in_order(view.operation)
    return found


def check_agreement(module: ir.Module) -> None:
    held: list[int] = []
    values: dict[Value, int] = {}
    code = Bytecode(bytecode.write(module))
    ops, blocks = iter(walked(module)), iter(blocks_in_order(module.operation))
    depth = 0

    def define(event: Event, defined: list[Value]) -> None:
        assert event.size == len(defined)
        for place, value in enumerate(defined, event.first):
            held[place] = values[value] = len(values)

    for event in map(Event._make, code.events(held, -1)):
        if event.name == REGION:
            depth += 1
        elif event.name == END:
            depth -= 1
        elif event.name == BLOCK:
            define(event, list(next(blocks).arguments))
        else:
            op = next(ops)
            assert code.names[event.name] == op.name
            assert event.operands == tuple(values[each] for each in op.operands)
            assert event.regions == len(op.regions)
            define(event, list(op.results))
    assert depth == 0
    assert next(ops, None) is None
    assert next(blocks, None) is None


def test_regions_functions_and_several_results() -> None:
    check_agreement(parse(NESTED))


def test_numbers_of_more_than_one_byte() -> None:
    lines = [f"%{n + 1} = stablehlo.add %{n}, %{n // 2} : tensor<f32>" for n in range(20_000)]
    body = "\n".join(lines)
    check_agreement(
        parse(f"func.func @main(%0: tensor<f32>) -> tensor<f32> {{\n{body}\n"
              "return %20000 : tensor<f32>\n}")
    )  # fmt: skip


def test_equal_attributes_and_properties_have_equal_numbers() -> None:
    text = "\n".join(
        f"%{n} = stablehlo.constant {{a = {a}}} dense<{value}> : tensor<i32>"
        for n, (a, value) in enumerate([(1, 5), (1, 6), (2, 5), (1, 5)])
    )
    code = Bytecode(bytecode.write(parse(f"func.func @main() {{\n{text}\nreturn\n}}")))
    constants = [
        event
        for event in map(Event._make, code.events([], 0))
        if event.name >= 0 and code.names[event.name] == "stablehlo.constant"
    ]
    first, other_value, other_attribute, same = constants
    assert first.attributes == other_value.attributes == same.attributes
    assert first.attributes != other_attribute.attributes
    assert first.properties == other_attribute.properties == same.properties
    assert first.properties != other_value.properties


def test_uses_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(
        """
        func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
          %a:2 = stablehlo.optimization_barrier %x, %y : tensor<f32>, tensor<f32>
          %b = stablehlo.add %x, %y : tensor<f32>
          %c = stablehlo.add %a#0, %x : tensor<f32>
          %d = stablehlo.multiply %a#1, %y : tensor<f32>
          %e = stablehlo.subtract %a#0, %b : tensor<f32>
          %f = stablehlo.divide %c, %d : tensor<f32>
          %g = stablehlo.maximum %e, %f : tensor<f32>
          %h = stablehlo.minimum %g, %b : tensor<f32>
          %i = stablehlo.power %h, %a#1 : tensor<f32>
          return %i : tensor<f32>
        }
        """
    )
    met: list[int] = []
    past = bytecode._past_orders

    def spy(data: bytes, at: int, values: int) -> int:
        met.append(values)
        return past(data, at, values)

    monkeypatch.setattr(bytecode, "_past_orders", spy)
    ops = walked(module)
    ops[2].results[1].replace_all_uses_with(ops[2].results[0])
    x, y = ops[1].regions[0].blocks[0].arguments
    y.replace_all_uses_with(x)
    ops[6].results[0].replace_all_uses_with(ops[3].results[0])
    check_agreement(module)
    assert met == [2, 2, 1]  # of the arguments, of the results of the barrier, and of %b


@pytest.mark.parametrize("version", [3, 5])
def test_another_version_is_refused(version: int) -> None:
    with pytest.raises(BytecodeError, match=f"of version {version}, wanted 6"):
        Bytecode(bytecode_of(parse(NESTED), version))


def test_what_is_no_bytecode_is_refused() -> None:
    with pytest.raises(BytecodeError, match="no MLIR bytecode"):
        Bytecode(NESTED.encode())


def test_something_unknown_in_an_op_is_refused() -> None:
    module = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> {return %x : tensor<f32>}")
    data = bytecode.write(module)
    code = Bytecode(data)
    start = code._start
    assert data[start] == 0b101  # one op, the module
    changed = data[: start + 2] + bytes([data[start + 2] | 0x80]) + data[start + 3 :]
    with pytest.raises(BytecodeError, match="unknown"):
        list(Bytecode(changed).events([], 0))
