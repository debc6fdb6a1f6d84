"""convert-near-one-to-ocml: exp(x) - 1 and log(1 + x) on AMD's chips."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from ...dialects.mlir import func, ir, math
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import each_element, rewrite_each

_FUNCTIONS = {"math.expm1": "expm1", "math.log1p": "log1p"}


@register
@dataclass(frozen=True)
class ConvertNearOneToOcml(Pass):
    """Makes math.expm1 and math.log1p calls of ROCm's ocml, of f32 and f64.

    Upstream computes expm1 of f32 as exp(x) - 1, which loses every digit near zero; and ocml's give
    +0 for -0. Both functions have the sign of x.

        %r = math.expm1 %x : f32
    becomes
        %y = call @__ocml_expm1_f32(%x) : (f32) -> f32
        %r = math.copysign %y, %x : f32
    """

    name: ClassVar[str] = "convert-near-one-to-ocml"
    subjects: ClassVar[tuple[str, ...]] = tuple(_FUNCTIONS)

    def run(self, op: ir.Operation) -> None:
        symbols = ir.SymbolTable(op)
        convert = partial(_convert, op, symbols)
        rewrite_each(op, dict.fromkeys(_FUNCTIONS, convert))


def _convert(module: ir.Operation, symbols: ir.SymbolTable, op: ir.Operation) -> Sequence[ir.Value]:
    def emit(x: ir.Value) -> Sequence[ir.Value]:
        name = f"__ocml_{_FUNCTIONS[op.name]}_{x.type}"
        if name not in symbols:
            with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
                symbols.insert(func.FuncOp(name, ([x.type], [x.type]), visibility="private"))
        result = func.CallOp([x.type], name, [x]).results[0]
        return [math.copysign(result, x)]

    return each_element(emit, list(op.operands), [op.results[0].type])
