"""Translation of LLVM-dialect modules, and that its failures are exceptions, not crashes."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from hirc.compiler.errors import Position
from hirc.compiler.gate import GateError
from hirc.compiler.session import Session
from hirc.compiler.translate import TranslationError, to_llvm_ir
from hirc.dialects.mlir import ir


def _module(session: Session, text: str) -> ir.Operation:
    return ir.Module.parse(text, context=session.context).operation


_LOAD = """
llvm.func @f(%p: !llvm.ptr) -> i64 {
  %0 = llvm.load %p : !llvm.ptr -> i64
  llvm.return %0 : i64
}
"""

_FAILURES = {
    "cast left over": (
        "llvm.func @f(%a: i32) -> i64 {\n"
        "  %0 = builtin.unrealized_conversion_cast %a : i32 to i64\n"
        "  llvm.return %0 : i64\n}",
        "builtin.unrealized_conversion_cast",
        Position("<stdin>", 2, 8),
    ),
    "op of another dialect": (
        "llvm.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  llvm.return %0 : i32\n}",
        "arith.addi",
        Position("<stdin>", 2, 8),
    ),
    "function of another dialect": (
        "func.func private @f(i32) -> i32",
        "func.func",
        Position("<stdin>", 1, 1),
    ),
    "op on the GPU": (
        "llvm.func @f() {\n  gpu.barrier\n  llvm.return\n}",
        "gpu.barrier",
        Position("<stdin>", 2, 3),
    ),
    "intrinsic that is none": (
        'llvm.func @f() {\n  llvm.call_intrinsic "llvm.none"() : () -> ()\n  llvm.return\n}',
        "llvm.none",
        Position("<stdin>", 2, 3),
    ),
    "signature that is wrong": (
        'llvm.func @f() {\n  %0 = llvm.call_intrinsic "llvm.sqrt"() : () -> i32\n  llvm.return\n}',
        "llvm.sqrt",
        Position("<stdin>", 2, 8),
    ),
    "what only LLVM's verifier finds": (
        "llvm.func @g()\nllvm.func @f(%a: !llvm.ptr {llvm.returned}) {\n  llvm.return\n}",
        "returned",
        Position("<stdin>", 2, 1),
    ),
    "device code inside": (
        "gpu.module @kernels {\n  llvm.func @f() {\n    llvm.return\n  }\n}",
        "'gpu.module' inside the module would be left out",
        Position("<stdin>", 1, 1),
    ),
    "module inside": (
        "module @inner {\n}\nllvm.func @f()",
        "'builtin.module' inside the module would be left out",
        Position("<stdin>", 1, 1),
    ),
}


@pytest.mark.parametrize(("text", "says", "position"), _FAILURES.values(), ids=_FAILURES.keys())
def test_failure_is_an_exception_with_diagnostics(
    text: str, says: str, position: Position, capfd: pytest.CaptureFixture[str]
) -> None:
    session = Session()
    # A module may hold one module, which the parser would take for the whole.
    op = _module(session, f"module {{ {text}\n}}" if "module" in text else text)
    with pytest.raises(TranslationError) as failure:
        to_llvm_ir(op)
    diagnostics = failure.value.diagnostics
    assert {item.severity for item in diagnostics} == {"error"}
    assert any(says in item.message for item in diagnostics)
    first = diagnostics[0]
    assert first.position is not None
    assert first.position.line == position.line
    if "module" not in text:
        assert first.position == position
        assert first.location == str(position)
    assert says in str(failure.value)
    assert capfd.readouterr().err == ""
    assert session.diagnostics == []


def test_the_context_still_serves_after_a_failure() -> None:
    session = Session()
    with pytest.raises(TranslationError):
        to_llvm_ir(_module(session, "func.func private @f()"))
    assert "define i64 @f" in to_llvm_ir(_module(session, _LOAD))
    session.context.emit_error_diagnostics = True
    ir.Location.unknown(session.context).emit_error("after")
    assert [item.message for item in session.diagnostics] == ["after"]


def test_result_names_no_target() -> None:
    session = Session()
    op = _module(
        session,
        'module attributes {llvm.data_layout = "e-i64:64", llvm.target_triple = "nvptx64"} {'
        f"{_LOAD}}}",
    )
    text = to_llvm_ir(op)
    assert "\ntarget " not in text
    assert "load i64, ptr %0, align 8" in text


def test_data_layout_decides_alignments_and_leaves_the_module_alone() -> None:
    session = Session()
    op = _module(session, _LOAD)
    before = str(op)
    assert "load i64, ptr %0, align 4" in to_llvm_ir(op)
    assert "load i64, ptr %0, align 8" in to_llvm_ir(op, data_layout="e-i64:64")
    assert str(op) == before
    op.attributes["llvm.data_layout"] = ir.StringAttr.get("e-i64:32", session.context)
    assert "align 8" in to_llvm_ir(op, data_layout="e-i64:64")
    assert ir.StringAttr(op.attributes["llvm.data_layout"]).value == "e-i64:32"


def test_the_gate_is_applied_for_the_consumer() -> None:
    session = Session()
    op = _module(session, "llvm.mlir.global internal constant @a(0.1 : f32) : f32")
    llvm.parse_assembly(to_llvm_ir(op)).verify()
    assert "float 1.000000e-01" in to_llvm_ir(op, consumer=24)
    atomic = _module(
        session,
        "llvm.func @f(%p: !llvm.ptr, %a: f32) {\n"
        "  %0 = llvm.atomicrmw fmaximumnum %p, %a monotonic : !llvm.ptr, f32\n  llvm.return\n}",
    )
    with pytest.raises(GateError, match="fmaximumnum"):
        to_llvm_ir(atomic)
    assert "fmaximumnum" in to_llvm_ir(atomic, consumer=23)
