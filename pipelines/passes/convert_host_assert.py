"""convert-host-assert: a failing cf.assert on the host ends the program with its message."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import arith, ir, scf
from ...dialects.records import dataclass
from ..host.emitter import Emitter
from ..locations import location_text
from ..pass_base import Pass, register
from ..size_assertions import compared
from ..walking import host_operations_where


@register
@dataclass(frozen=True)
class ConvertHostAssert(Pass):
    """Turns cf.assert outside gpu.module into a test and a call of hirc_assert_failed.

    Upstream's lowering prints through a buffer that its abort then loses.

      cf.assert %fine, "message"
    becomes
      scf.if %wrong { llvm.call @hirc_assert_failed(%message, %location) }
    """

    name: ClassVar[str] = "convert-host-assert"
    subjects: ClassVar[tuple[str, ...]] = ("cf.assert",)
    makes: ClassVar[tuple[str, ...]] = ("arith.", "scf.", "llvm.")

    def run(self, op: ir.Operation) -> None:
        emitter = Emitter(op)
        for inner in host_operations_where(op, lambda inner: inner.name == "cf.assert"):
            _convert(inner, emitter)


def _convert(op: ir.Operation, emitter: Emitter) -> None:
    message = ir.StringAttr(op.attributes["msg"]).value_bytes.decode(errors="replace")
    with op.location, ir.InsertionPoint(op):
        true = arith.constant(ir.IntegerType.get_signless(1), 1)
        test = scf.IfOp(arith.xori(op.operands[0], true))
        with ir.InsertionPoint(test.then_block):
            end = scf.YieldOp([])
    position = location_text(op.location)
    emit = emitter.at(end.operation)
    shown = compared(op)
    if shown is None:
        emit.call("hirc_assert_failed", [emit.string(message), emit.string(position)])
    else:
        text = emit.string(shown[0].replace("%", "%%").replace("{}", "%lld"))
        numbers = [emit.convert(number) for number in (*shown[1], *shown[1])[:2]]
        emit.call("hirc_refuse", [text, *numbers, emit.string(position)])
    op.erase()
