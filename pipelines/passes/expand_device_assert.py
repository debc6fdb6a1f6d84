"""expand-device-assert: assertions in kernels for AMD's chips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, ir, llvm, scf
from ...dialects.records import dataclass
from ..locations import location_text
from ..pass_base import Pass, register
from ..rewriting import rewrite_each
from ..symbols import fresh_name

# ROCm's ockl: begins a message to standard error, and adds to it; the first string is the format.
_BEGIN = ("__ockl_fprintf_stderr_begin", "i64 ()")
_ADD = ("__ockl_fprintf_append_string_n", "i64 (i64, ptr, i64, i32)")


@register
@dataclass(frozen=True)
class ExpandDeviceAssert(Pass):
    """Makes cf.assert a message to standard error and a trap, as HIP's assert is.

      cf.assert %fine, "message"
    becomes
      scf.if %fails {
        %m = llvm.call @__ockl_fprintf_stderr_begin() : () -> i64
        llvm.call @__ockl_fprintf_append_string_n(%m, %text, %length, %last)
        llvm.intr.trap
      }
    """

    name: ClassVar[str] = "expand-device-assert"
    subjects: ClassVar[tuple[str, ...]] = ("cf.assert",)

    def run(self, op: ir.Operation) -> None:
        symbols = ir.SymbolTable(op)

        def expand(check: ir.Operation) -> Sequence[ir.Value]:
            _expand(check, op, symbols)
            return []

        rewrite_each(op, {"cf.assert": expand})


def _expand(check: ir.Operation, module: ir.Operation, symbols: ir.SymbolTable) -> None:
    message = ir.StringAttr(check.attributes["msg"]).value
    where = location_text(check.location)
    text = f"{where}: Assertion `{message}` failed\n".replace("%", "%%")
    bit = ir.IntegerType.get_signless(1)
    fails = arith.xori(check.operands[0], arith.constant(bit, True))
    with ir.InsertionPoint(scf.IfOp(fails).then_block):
        address = _string(text, module, symbols)
        i64, i32 = (ir.IntegerType.get_signless(bits) for bits in (64, 32))
        size = arith.constant(i64, len(text.encode()) + 1)
        begun = _call(_BEGIN, [], i64, module, symbols)
        _call(_ADD, [begun, address, size, arith.constant(i32, 1)], i64, module, symbols)
        ir.Operation.create("llvm.intr.trap")
        scf.yield_([])


def _string(text: str, module: ir.Operation, symbols: ir.SymbolTable) -> ir.Value:
    """Returns the address of a constant of the module, which ends in a zero."""
    name = fresh_name("hirc_assertion", lambda candidate: candidate in symbols)
    constant = llvm.GlobalOp(
        ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{len(text.encode()) + 1} x i8>")),
        name,
        ir.Attribute.parse("#llvm.linkage<internal>"),
        constant=True,
        value=ir.StringAttr.get(text + "\0"),
        ip=ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]),
    )
    symbols.insert(constant)
    return llvm.AddressOfOp(ir.Type.parse("!llvm.ptr"), ir.FlatSymbolRefAttr.get(name)).result


def _call(
    function: tuple[str, str],
    arguments: list[ir.Value],
    result: ir.Type,
    module: ir.Operation,
    symbols: ir.SymbolTable,
) -> ir.Value:
    name, kind = function
    if name not in symbols:
        declared = llvm.LLVMFuncOp(
            name,
            ir.TypeAttr.get(ir.Type.parse(f"!llvm.func<{kind}>")),
            ip=ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]),
        )
        symbols.insert(declared)
    callee = ir.FlatSymbolRefAttr.get(name)
    return llvm.CallOp(result, arguments, [], [], callee=callee).results[0]
