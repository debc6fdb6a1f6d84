"""load-lone-registers: wmma loads of matrices of which a lane holds one register."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import ir, llvm
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import rewrite_each

_OPERATION = "nvvm.wmma.load"


@register
@dataclass(frozen=True)
class LoadLoneRegisters(Pass):
    """Calls the intrinsic of an nvvm.wmma.load whose result is a struct of one register.

    nvvm wants the struct, and the intrinsic returns the register itself; upstream's translation of
    the operation ends the process. Such are matrices of 16 x 8 bytes.

      %a = nvvm.wmma.load %from, %stride {...} : (!llvm.ptr) -> !llvm.struct<(i32)>
    becomes
      %r = llvm.call_intrinsic "llvm.nvvm.wmma.m32n8k16.load.b.row.stride.s8.p0"(%from, %stride)
      %a = llvm.insertvalue %r, %poison[0] : !llvm.struct<(i32)>
    """

    name: ClassVar[str] = "load-lone-registers"
    subjects: ClassVar[tuple[str, ...]] = (_OPERATION,)

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {_OPERATION: _call})


def _call(op: ir.Operation) -> Sequence[ir.Value] | None:
    whole = op.results[0].type
    held = re.fullmatch(r"!llvm\.struct<\((\w+)\)>", str(whole))
    if held is None:
        return None
    m, n, k = (ir.IntegerAttr(op.attributes[name]).value for name in "mnk")
    use, layout, element = (_word(op, name) for name in ("frag", "layout", "eltype"))
    space = re.search(r"ptr<(\d+)>", str(op.operands[0].type))
    name = (
        f"llvm.nvvm.wmma.m{m}n{n}k{k}.load.{use}.{layout}.stride.{element}"
        f".p{space[1] if space else 0}"
    )
    call = llvm.CallIntrinsicOp(ir.Type.parse(held[1]), name, list(op.operands), [], [])
    loaded = call.operation.results[0]
    return [llvm.insertvalue(llvm.mlir_poison(whole), loaded, ir.DenseI64ArrayAttr.get([0]))]


def _word(op: ir.Operation, attribute: str) -> str:
    found = re.search(r"<(\w+)>", str(op.attributes[attribute]))
    assert found is not None
    return found[1]
