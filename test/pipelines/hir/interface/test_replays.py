"""How programs can be replayed, by what their host code reads and writes."""

from __future__ import annotations

import pytest

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.hir.interface.graphs import Replays, replays_of

_PROGRAM = """
llvm.mlir.global external @kept(2.0 : f32) : f32
llvm.func @hirc_launch(i64, f32)
llvm.func @unknown()
func.func private @callee() -> f32 {{
  {callee}
  return %number : f32
}}
func.func @body() {{
  {body}
  %number = func.call @callee() : () -> f32
  %grid = arith.constant 1 : i64
  llvm.call @hirc_launch(%grid, %number) : (i64, f32) -> ()
  return
}}
"""
_CONSTANT = "%number = arith.constant 1.0 : f32"
_OWN = """
  %one = llvm.mlir.constant(4 : i64) : i64
  %room = llvm.alloca %one x f32 : (i64) -> !llvm.ptr
  %place = llvm.getelementptr %room[3] : (!llvm.ptr) -> !llvm.ptr, f32
  %two = arith.constant 2.0 : f32
  llvm.store %two, %place : f32, !llvm.ptr
"""
_OTHER = "%place = llvm.mlir.addressof @kept : !llvm.ptr\n"
_LOAD = "%number = llvm.load %place : !llvm.ptr -> f32"
_STORE = "%value = arith.constant 3.0 : f32\nllvm.store %value, %place : f32, !llvm.ptr"


@pytest.mark.parametrize(
    ("body", "callee", "expected"),
    [
        ("", _CONSTANT, Replays.FOLLOWING),
        ("", _OWN + _LOAD, Replays.FOLLOWING),
        ("", _OTHER + _LOAD, Replays.COMPARED),
        (_OTHER + _STORE, _CONSTANT, Replays.COMPARED),
        (_OWN, _OTHER + _LOAD, Replays.COMPARED),
        ("llvm.call @unknown() : () -> ()", _CONSTANT, Replays.NEVER),
    ],
)
def test_what_host_code_reads_decides(body: str, callee: str, expected: Replays) -> None:
    module = ir.Module.parse(_PROGRAM.format(body=body, callee=callee), Session().context)
    function = ir.SymbolTable(module.operation)["body"].operation
    assert replays_of(module.operation, function, 1) is expected
    assert replays_of(module.operation, function, 0) is Replays.NEVER
