"""The instructions of a result once its sum is there, by which tiles of products are chosen."""

from __future__ import annotations

import pytest

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.schedules.rows.element_cost import cost_of_result
from hirc.pipelines.schedules.work import read_work

_GELU = """
    %u = arith.mulf %s, %root : f32
    %e = math.erf %u : f32
    %o = arith.addf %e, %one : f32
    %h = arith.mulf %s, %half : f32
    %v = arith.mulf %h, %o : f32
"""
_SILU = """
    %m = arith.negf %s : f32
    %e = math.exp %m : f32
    %o = arith.addf %e, %one : f32
    %v = arith.divf %s, %o : f32
"""
_BY_CONSTANT = "%v = arith.divf %s, %root : f32"
_BY_SUM = "%o = arith.addf %s, %one : f32\n %v = arith.divf %one, %o : f32"
_ADDEND = "%z = arith.extf %c : bf16 to f32\n %v = arith.addf %s, %z : f32"
_KEPT = "%t = arith.truncf %s : f32 to bf16\n %v = arith.extf %t : bf16 to f32"


def _cost(body: str, element: str) -> float:
    """Returns that of a product of which `body` makes %v of the sum %s."""
    last = "arith.truncf %v : f32 to bf16" if element == "bf16" else "arith.negf %v : f32"
    text = f"""
      func.func @f(%x: memref<64x32xbf16>, %w: memref<96x32xbf16>, %r: memref<64x96xbf16>,
                   %y: memref<64x96x{element}>) {{
        %one = arith.constant 1.0 : f32
        %half = arith.constant 0.5 : f32
        %root = arith.constant 0.70710678 : f32
        linalg.generic {{
          indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                           affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (m, n)>],
          iterator_types = ["parallel", "parallel", "reduction"]
        }} ins(%x, %w, %r : memref<64x32xbf16>, memref<96x32xbf16>, memref<64x96xbf16>)
          outs(%y : memref<64x96x{element}>) {{
        ^bb0(%a: bf16, %b: bf16, %c: bf16, %old: {element}):
          %p = arith.extf %a : bf16 to f32
          %q = arith.extf %b : bf16 to f32
          %k = arith.mulf %p, %q : f32
          %s = "hir.reduce_loops"(%k) {{kind = "addf", loops = array<i64: 2>}} : (f32) -> f32
          {body}
          %n = {last}
          linalg.yield %n : {element}
        }}
        return
      }}
    """
    session = Session()
    with session.context, ir.Location.unknown():
        module = ir.Module.parse(text)
        function = module.body.operations[0].operation
        (op,) = [
            each.operation
            for each in function.regions[0].blocks[0]
            if each.operation.name == "linalg.generic"
        ]
        with ir.InsertionPoint(op):
            work = read_work(op)
        assert work is not None
        return cost_of_result(work)


@pytest.mark.parametrize("body", [_GELU, _SILU, _BY_SUM])
def test_what_is_rounded_takes_fewer(body: str) -> None:
    assert _cost(body, "bf16") + 3 < _cost(body, "f32")


def test_more_takes_longer() -> None:
    bodies = [_KEPT, _ADDEND, _SILU, _GELU]
    costs = [_cost(body, "bf16") for body in bodies]
    assert costs == sorted(costs)
    assert costs[0] < costs[2] < costs[3]


def test_a_gelu_takes_what_the_assembler_makes_of_it() -> None:
    # 13 of 14.3 in SASS for sm_90a: seven of the polynomial, a power, a comparison and so on.
    assert 10 <= _cost(_GELU, "bf16") <= 16


def test_dividing_by_a_constant_multiplies() -> None:
    assert _cost(_BY_CONSTANT, "bf16") < _cost(_BY_SUM, "bf16") - 2
