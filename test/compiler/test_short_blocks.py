"""Long blocks of host code are split, and what they compute stays the same."""

from __future__ import annotations

import re

from hirc.compiler.llvm_ir import LlvmModule, host_machine
from hirc.compiler.session import Session
from hirc.compiler.short_blocks import shorten_blocks
from hirc.compiler.translate import to_llvm_ir
from hirc.dialects.mlir import ir


def _steps(first: int, count: int) -> str:
    return "\n".join(f"%v{i + 1} = llvm.add %v{i}, %n : i64" for i in range(first, first + count))


# The entry block allocates in its midst; the other has arguments and ends with operands.
_PROGRAM = f"""\
llvm.func @f(%v0: i64, %n: i64) -> i64 {{
  {_steps(0, 450)}
  %one = llvm.mlir.constant(1 : i32) : i32
  %place = llvm.alloca %one x i64 : (i32) -> !llvm.ptr
  {_steps(450, 450)}
  llvm.store %v900, %place : i64, !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %is_zero = llvm.icmp "eq" %n, %zero : i64
  llvm.cond_br %is_zero, ^out(%n : i64), ^long(%v900 : i64)
^long(%v1000: i64):
  {_steps(1000, 999)}
  llvm.br ^out(%v1999 : i64)
^out(%result: i64):
  %kept = llvm.load %place : !llvm.ptr -> i64
  %sum = llvm.add %result, %kept : i64
  llvm.return %sum : i64
}}
"""


def _lengths(text: str) -> list[int]:
    """The instructions of each block."""
    body = text.partition("{\n")[2].partition("\n}")[0]
    return [each.count("\n  ") + 1 for each in re.split(r"\n\n\d+:.*|^  ", body)]


def test_a_long_block_becomes_several() -> None:
    module = ir.Module.parse(_PROGRAM, Session().context).operation
    whole = to_llvm_ir(module)
    shorten_blocks(module)
    assert module.verify()
    split = to_llvm_ir(module)
    assert max(_lengths(whole)) > 990
    assert max(_lengths(split)) < 700
    # The entry block is one up to what it allocates, and two; the long one becomes five.
    assert split.count("\n  br label") == whole.count("\n  br label") + 5
    entry = split.partition("{\n")[2].partition("\n\n")[0]
    assert " = alloca i64" in entry
    machine = host_machine(2)
    made = [LlvmModule(text, machine, name="f") for text in (whole, split)]
    for each in made:
        each.verify()
        each.optimize()
    texts = [re.sub(r"%\w+|; .*", "", each.text()) for each in made]
    assert texts[0] == texts[1]


def test_a_block_of_some_hundred_is_left() -> None:
    text = (
        f"llvm.func @f(%v0: i64, %n: i64) -> i64 {{\n{_steps(0, 280)}\nllvm.return %v280 : i64\n}}"
    )
    module = ir.Module.parse(text, Session().context).operation
    before = str(module)
    shorten_blocks(module)
    assert str(module) == before
