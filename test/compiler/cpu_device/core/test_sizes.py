"""Sizes and alignments are those of the host's LLVM."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from hirc.compiler.cpu_device.llvm_text import size_and_alignment
from hirc.compiler.llvm_ir import LlvmModule, host_machine

_SCALARS = [
    "i1",
    "i8",
    "i16",
    "i24",
    "i33",
    "i64",
    "i128",
    "half",
    "bfloat",
    "float",
    "double",
    "ptr",
]
_TYPES = [
    *_SCALARS,
    *(
        f"<{count} x {item}>"
        for item in ("i1", "i8", "half", "i32", "ptr")
        for count in (1, 2, 3, 8, 33)
    ),
    "[3 x i24]",
    "[0 x i32]",
    "{ i8, i64, i8 }",
    "<{ i8, i64, i8 }>",
    "{ i8, [3 x { i16, i8 }], <3 x float> }",
    "{ i1, i128 }",
    "{}",
]


@pytest.mark.parametrize("type_text", _TYPES)
def test_as_llvm(type_text: str) -> None:
    module = LlvmModule(f"@v = external global {type_text}", host_machine(0), name="sizes")
    data = llvm.create_target_data(module.raw.data_layout)
    type_ = module.raw.get_global_variable("v").global_value_type
    size, align = size_and_alignment(type_text)
    assert size == data.get_abi_size(type_)
    assert align == data.get_abi_alignment(type_)
