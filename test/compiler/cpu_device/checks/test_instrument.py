"""Where calls of checks are put, and with what."""

from __future__ import annotations

import re

import pytest

from hirc.compiler.cpu_device.device_ir import parse_module
from hirc.compiler.cpu_device.instrument import instrument
from hirc.compiler.ir_text import IrText

_BOTH = frozenset({"memory", "race"})
_KERNEL = """\
@slots = internal addrspace(3) global [8 x i32] undef, align 4
@table = internal addrspace(1) global [3 x i64] zeroinitializer, align 8

define ptx_kernel void @kernel(ptr addrspace(1) %data, i32 %i, i64 %bytes) !dbg !4 {{
  {0}
  ret void
}}

!3 = !DIFile(filename: "kernel.mlir", directory: "")
!4 = distinct !DISubprogram(name: "kernel", scope: !3, file: !3, line: 2)
!5 = !DILocation(line: 7, column: 9, scope: !4)
"""


def _checked(body: str) -> list[str]:
    module = parse_module(IrText.of(_KERNEL.format(body)))
    instrument(module, _BOTH)
    (function,) = module.functions.values()
    return [module.strings.whole(item.text) for item in function.instructions()]


@pytest.mark.parametrize(
    ("instruction", "check"),
    [
        (
            "%v = load i32, ptr addrspace(1) %data, align 4, !dbg !5",
            "@hirc_check_read({}, ptr addrspace(1) %data, i64 4, ptr {})",
        ),
        (
            "store <3 x float> zeroinitializer, ptr addrspace(1) %data, align 16, !dbg !5",
            "@hirc_check_write({}, ptr addrspace(1) %data, i64 12, ptr {})",
        ),
        (
            "%v = load volatile i8, ptr addrspace(1) %data, align 1, !dbg !5",
            "@hirc_check_strong_read({}, ptr addrspace(1) %data, i64 1, ptr {})",
        ),
        (
            'store atomic i32 %i, ptr addrspace(3) @slots syncscope("block") release, align 4, '
            "!dbg !5",
            "@hirc_check_strong_write({}, ptr addrspace(3) @slots, i64 4, ptr {})",
        ),
        (
            "%v = atomicrmw volatile fadd ptr addrspace(1) %data, double 1.0 monotonic, !dbg !5",
            "@hirc_check_atomic({}, ptr addrspace(1) %data, i64 8, ptr {})",
        ),
        (
            "%v = cmpxchg weak ptr addrspace(1) %data, i32 0, i32 %i acq_rel monotonic, !dbg !5",
            "@hirc_check_atomic({}, ptr addrspace(1) %data, i64 4, ptr {})",
        ),
        (
            "store i32 %i, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @slots, "
            "i64 8), align 4, !dbg !5",
            "@hirc_check_write({}, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) "
            "@slots, i64 8), i64 4, ptr {})",
        ),
        (
            "call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 4 @slots, "
            "ptr addrspace(1) noundef align 4 %data, i64 %bytes, i1 false), !dbg !5",
            "@hirc_check_copy({}, ptr addrspace(3) @slots, ptr addrspace(1) %data, i64 %bytes, "
            "ptr {})",
        ),
        (
            "call void @llvm.memset.p1.i64(ptr addrspace(1) align 4 %data, i8 0, i64 16, "
            "i1 false), !dbg !5",
            "@hirc_check_write({}, ptr addrspace(1) %data, i64 16, ptr {})",
        ),
        (
            "call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) @slots, "
            "ptr addrspace(1) %data), !dbg !5",
            "@hirc_check_operation({}, ptr {})",
        ),
    ],
)
def test_check(instruction: str, check: str) -> None:
    before, after, last = _checked(instruction)
    context = "ptr %hirc.block, i32 %hirc.thread"
    assert before == f"call void {check.format(context, '@hirc.site.0')}, !dbg !5"
    assert after == instruction
    assert last == "ret void"


@pytest.mark.parametrize(
    "body",
    [
        "%a = alloca i32, align 4\n  store i32 %i, ptr %a, align 4",
        "%a = alloca [4 x i32], align 4\n  %p = getelementptr i8, ptr %a, i64 4\n"
        "  %v = load i32, ptr %p, align 4",
        "%v = load i32, ptr addrspace(5) null, align 4",
        "%v = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
    ],
)
def test_no_check(body: str) -> None:
    assert not any("hirc_check" in text for text in _checked(body))


def test_site() -> None:
    module = parse_module(
        IrText.of(_KERNEL.format("store i32 %i, ptr addrspace(3) @slots, !dbg !5"))
    )
    instrument(module, _BOTH)
    site = module.variables["@hirc.site.0"]
    strings = [
        re.sub(r".*c\"(.*)\\00\".*", r"\1", module.strings.whole(module.variables[name]))
        for name in re.findall(r"@hirc\.site\.string\.\d+", site)
    ]
    assert strings == ["kernel.mlir:7:9", "kernel"]
    assert "i32 3, i32 0 }" in site
    # Shared variables lie elsewhere in each block.
    table = module.variables["@hirc.site.variables"]
    assert "addrspacecast (ptr addrspace(1) @table to ptr), i64 24" in table
    assert "@slots" not in table


def test_no_checks_change_nothing() -> None:
    module = parse_module(IrText.of(_KERNEL.format("store i32 %i, ptr addrspace(3) @slots")))
    instrument(module, frozenset())
    assert set(module.variables) == {"@slots", "@table"}


def test_unknown_check() -> None:
    with pytest.raises(ValueError, match="unknown checks: leaks"):
        instrument(parse_module(IrText.of("")), frozenset({"leaks"}))
