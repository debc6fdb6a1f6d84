"""Lowers math.expm1 on the host to the C library's function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, func, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import each_element, rewrite_each


@register
@dataclass(frozen=True)
class ConvertExpm1ToLibm(Pass):
    """Makes math.expm1 a call of expm1 or expm1f.

    To be run on host code before convert-math-to-llvm, which would compute exp(x) - 1 and lose
    every digit near zero.

        %r = math.expm1 %x : f32     ->     %r = call @expm1f(%x) : (f32) -> f32
    """

    name: ClassVar[str] = "convert-expm1-to-libm"
    subjects: ClassVar[tuple[str, ...]] = ("math.expm1",)

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"math.expm1": _call})


def _call(op: ir.Operation) -> Sequence[ir.Value] | None:
    if _symbol_table(op) is None:
        return None

    def emit(x: ir.Value) -> Sequence[ir.Value]:
        return [_scalar_call(op, x)]

    return each_element(emit, list(op.operands), [op.results[0].type])


def _scalar_call(op: ir.Operation, x: ir.Value) -> ir.Value:
    narrow = x.type not in (ir.F32Type.get(), ir.F64Type.get())
    argument = arith.extf(ir.F32Type.get(), x) if narrow else x
    working = argument.type
    name = "expm1" if isinstance(working, ir.F64Type) else "expm1f"
    table = _symbol_table(op)
    assert table is not None
    if name not in ir.SymbolTable(table):
        with ir.InsertionPoint.at_block_begin(table.regions[0].blocks[0]):
            func.FuncOp(name, ([working], [working]), visibility="private")
    result = func.CallOp([working], name, [argument]).results[0]
    return arith.truncf(x.type, result) if narrow else result


def _symbol_table(op: ir.Operation) -> ir.Operation | None:
    """Returns the builtin.module whose host code `op` is part of; None inside a gpu.module."""
    parent = op.parent
    while parent is not None and parent.name not in ("builtin.module", "gpu.module"):
        parent = parent.parent
    return parent if parent is not None and parent.name == "builtin.module" else None
