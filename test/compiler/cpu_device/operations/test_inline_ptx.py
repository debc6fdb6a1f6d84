"""Inline PTX as LLVM IR: what it computes, what it calls, and what is refused."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

from hirc.compiler.cpu_device.inline_ptx import inline_ptx
from hirc.compiler.cpu_device.operations import operation
from hirc.compiler.errors import UnsupportedError

_Value = int | float
_Case = tuple[str, str, str, list[tuple[str, _Value]], _Value]

_MASK = 0xFFFFFFFF


# Template, constraints, type of the result, operands, expected.
_CASES: list[_Case] = [
    ("mov.u32 $0, $1;", "=r,r", "i32", [("i32", 7)], 7),
    ("mov.b32 $0, 0f3F800000;", "=f", "float", [], 1.0),
    ("add.s32 $0, $1, $2;", "=r,r,r", "i32", [("i32", 5), ("i32", -7)], -2 & _MASK),
    ("add.s32 $0, $0, $2;", "=r,0,r", "i32", [("i32", 5), ("i32", 3)], 8),
    ("sub.u32 $0, $1, 1;", "=r,r", "i32", [("i32", 5)], 4),
    ("mul.lo.u32 $0, $1, $2;", "=r,r,r", "i32", [("i32", 1 << 31), ("i32", 3)], 1 << 31),
    ("mul.hi.u32 $0, $1, $2;", "=r,r,r", "i32", [("i32", 1 << 31), ("i32", 4)], 2),
    ("mul.wide.s32 $0, $1, $2;", "=l,r,r", "i64", [("i32", -2), ("i32", 3)], -6 & (1 << 64) - 1),
    ("mad.lo.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32", [("i32", 2), ("i32", 3), ("i32", 4)], 10),
    (
        "lop3.b32 $0, $1, $2, $3, 0x96;",
        "=r,r,r,r",
        "i32",
        [("i32", 0xF0), ("i32", 0xCC), ("i32", 0xAA)],
        0x96,
    ),
    (
        "lop3.b32 $0, $1, $2, $3, $4;",
        "=r,r,r,r,n",
        "i32",
        [("i32", 0xF0), ("i32", 0xCC), ("i32", 0xAA), ("i32", 0xEA)],
        0xEA,
    ),
    ("bfe.u32 $0, $1, 4, 8;", "=r,r", "i32", [("i32", 0x12345)], 0x34),
    ("bfe.s32 $0, $1, 4, 8;", "=r,r", "i32", [("i32", 0xF80)], -8 & _MASK),
    ("bfe.s32 $0, $1, 28, 8;", "=r,r", "i32", [("i32", 0x90000000)], -7 & _MASK),
    ("bfe.u32 $0, $1, 0, 0;", "=r,r", "i32", [("i32", 9)], 0),
    ("bfe.u32 $0, $1, 0, 32;", "=r,r", "i32", [("i32", _MASK)], _MASK),
    ("shl.b32 $0, $1, $2;", "=r,r,r", "i32", [("i32", 1), ("i32", 40)], 0),
    ("shr.s32 $0, $1, $2;", "=r,r,r", "i32", [("i32", -8), ("i32", 40)], _MASK),
    ("shr.u32 $0, $1, $2;", "=r,r,r", "i32", [("i32", -8), ("i32", 28)], 15),
    (
        "shf.l.wrap.b32 $0, $1, $2, $3;",
        "=r,r,r,r",
        "i32",
        [("i32", 0x80000000), ("i32", 1), ("i32", 1)],
        3,
    ),
    ("popc.b32 $0, $1;", "=r,r", "i32", [("i32", 0xFF)], 8),
    ("clz.b32 $0, $1;", "=r,r", "i32", [("i32", 1)], 31),
    ("min.s32 $0, $1, $2;", "=r,r,r", "i32", [("i32", -1), ("i32", 1)], _MASK),
    ("max.u32 $0, $1, $2;", "=r,r,r", "i32", [("i32", -1), ("i32", 1)], _MASK),
    (
        "fma.rn.f32 $0, $1, $2, $3;",
        "=f,f,f,f",
        "float",
        [("float", 2.0), ("float", 3.0), ("float", 1.0)],
        7.0,
    ),
    ("mul.f32 $0, $1, 0f40000000;", "=f,f", "float", [("float", 1.5)], 3.0),
    ("neg.f32 $0, $1;", "=f,f", "float", [("float", 1.5)], -1.5),
    ("abs.f32 $0, $1;", "=f,f", "float", [("float", -1.5)], 1.5),
    ("cvt.rn.f32.s32 $0, $1;", "=f,r", "float", [("i32", -3)], -3.0),
    ("cvt.u64.u32 $0, $1;", "=l,r", "i64", [("i32", -1)], _MASK),
    ("cvt.s64.s32 $0, $1;", "=l,r", "i64", [("i32", -1)], (1 << 64) - 1),
    ("cvt.sat.u8.s32 $0, $1;", "=r,r", "i32", [("i32", 300)], 255),
    ("cvt.rni.f32.f32 $0, $1;", "=f,f", "float", [("float", 2.5)], 2.0),
    ("cvt.f64.f32 $0, $1;", "=d,f", "double", [("float", 0.5)], 0.5),
    (
        "{ .reg .b16 h; cvt.rn.f16.f32 h, $1; mov.b32 $0, {h, h}; }",
        "=r,f",
        "i32",
        [("float", 1.0)],
        0x3C003C00,
    ),
    ("mov.b64 $0, {$1, $2};", "=l,r,r", "i64", [("i32", 1), ("i32", 2)], 1 | 2 << 32),
    (
        "{ .reg .b32 lo, hi; mov.b64 {lo, hi}, $1; add.u32 $0, lo, hi; }",
        "=r,l",
        "i32",
        [("i64", 5 | 6 << 32)],
        11,
    ),
    (
        "{ .reg .pred p; setp.lt.s32 p, $1, 0; selp.b32 $0, 1, 2, p; }",
        "=r,r",
        "i32",
        [("i32", -1)],
        1,
    ),
    (
        "{ .reg .pred p; setp.lt.u32 p, $1, 1; @!p mov.u32 $0, 9; @p mov.u32 $0, 4; }",
        "=r,r",
        "i32",
        [("i32", -1)],
        9,
    ),
    (
        "{ .reg .pred p; setp.ne.f32 p, $1, $1; selp.u32 $0, 1, 0, p; }",
        "=r,f",
        "i32",
        [("float", float("nan"))],
        0,
    ),
    (
        "{ .reg .u32 n; mov.u32 n, $1; mov.u32 $0, 0; L: add.u32 $0, $0, n; sub.u32 n, n, 1;\n"
        " .reg .pred p; setp.ne.u32 p, n, 0; @p bra L; }",
        "=r,r",
        "i32",
        [("i32", 4)],
        10,
    ),
]
_C_TYPES: dict[str, Any] = {
    "i32": ctypes.c_uint32,
    "i64": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], _Value]:
    """Runs a case: all are compiled into one library."""
    folder = tmp_path_factory.mktemp("ptx")
    # What the library of device code has, as far as it is wanted here.
    fma = "hirc.nvvm.fma.rn.f"
    body = "%r = call float @llvm.fma.f32(float %a, float %b, float %c)\nret float %r"
    texts = [f"define float @{fma}(float %a, float %b, float %c) {{\n{body}\n}}"]
    declared: dict[str, str] = {"llvm.fma.f32": "declare float @llvm.fma.f32(float, float, float)"}
    for number, (template, constraints, result, operands, _) in enumerate(_CASES):
        made = inline_ptx(template, constraints).function(
            f"case{number}", result, [(type_, str(value)) for type_, value in operands]
        )
        declared |= made.declarations
        texts.append(made.definition.replace("internal ", "").replace("alwaysinline", ""))
    declared.pop(fma)
    source, built = folder / "cases.ll", folder / "cases.so"
    source.write_text("\n".join([*declared.values(), *texts]))
    flags = ["-shared", "-fPIC", "-O1", "-Wno-override-module"]
    subprocess.run(["clang-22", *flags, source, "-o", built], check=True)
    library = ctypes.CDLL(str(built))

    def call(number: int) -> _Value:
        _, _, result, operands, _ = _CASES[number]
        function = getattr(library, f"case{number}")
        function.restype = _C_TYPES[result]
        return function(*(_C_TYPES[type_](value) for type_, value in operands))

    return call


@pytest.mark.parametrize("number", range(len(_CASES)), ids=[case[0] for case in _CASES])
def test_scalar_instruction(run: Callable[[int], _Value], number: int) -> None:
    assert run(number) == _CASES[number][-1]


# Template, constraints, result, operands, and the function that does it.
_CALLS = [
    ("bar.sync 0;", "", "void", [], "hirc.nvvm.barrier.cta.sync.aligned.all"),
    ("bar.sync $0, $1;", "r,r", "void", ["i32", "i32"], "hirc.nvvm.barrier.cta.sync.aligned.count"),
    (
        "barrier.cluster.arrive.release.aligned;",
        "",
        "void",
        [],
        "hirc.nvvm.barrier.cluster.arrive.aligned",
    ),
    ("activemask.b32 $0;", "=r", "i32", [], "hirc.nvvm.activemask"),
    (
        "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;",
        "=r,r",
        "i32",
        ["i32"],
        "hirc.nvvm.shfl.sync.bfly.i32p",
    ),
    (
        "{.reg .pred p; elect.sync _|p, -1; selp.u32 $0, 1, 0, p;}",
        "=r",
        "i32",
        [],
        "hirc.nvvm.elect.sync",
    ),
    ("redux.sync.add.s32 $0, $1, -1;", "=r,r", "i32", ["i32"], "hirc.nvvm.redux.sync.add"),
    (
        "@$1 mbarrier.arrive.expect_tx.shared.b64 _, [$0], 64;",
        "r,b",
        "void",
        ["ptr", "i1"],
        "hirc.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta",
    ),
    (
        "cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $2;",
        "r,l,r",
        "void",
        ["i32", "i64", "i32"],
        "hirc.nvvm.cp.async.cg.shared.global.16.s",
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [$0], [$1, {$2, $3, $4}], [$5], $6;",
        "r,l,r,r,r,r,h",
        "void",
        ["i32", "i64", "i32", "i32", "i32", "i32", "i16"],
        "hirc.nvvm.cp.async.bulk.tensor.g2s.tile.3d",
    ),
    (
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [$0, {$1}], [$2];",
        "l,r,r",
        "void",
        ["i64", "i32", "i32"],
        "hirc.nvvm.cp.async.bulk.tensor.reduce.add.tile.1d",
    ),
    (
        "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, [$2+16];",
        "=r,=r,r",
        "{ i32, i32 }",
        ["i32"],
        "hirc.ptx.ldmatrix.sync.aligned.m8n8.x2.trans.b16",
    ),
    (
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$0,$1,$2,$3};",
        "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3",
        "{ float, float, float, float }",
        ["i32"] * 6 + ["float"] * 4,
        "hirc.ptx.mma.m16n8k8.row.col.f32.tf32.tf32.f32",
    ),
    (
        "LAB_WAIT: mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2; "
        "@P1 bra.uni DONE; bra.uni LAB_WAIT; DONE:",
        "r,r,r",
        "void",
        ["ptr", "i32", "i32"],
        "hirc.ptx.mbarrier.wait.parity",
    ),
]


@pytest.mark.parametrize(("template", "constraints", "result", "types", "callee"), _CALLS)
def test_operation_is_called(
    template: str, constraints: str, result: str, types: list[str], callee: str
) -> None:
    operands = [(type_, f"%{number}") for number, type_ in enumerate(types)]
    made = inline_ptx(template, constraints).function("f", result, operands)
    llvm.parse_assembly("\n".join([*made.declarations.values(), made.definition])).verify()
    assert callee in made.declarations
    assert operation(callee) is not None


def test_loads_by_policy(tmp_path: Path) -> None:
    """They read what loads without a policy do: one word, or several at once."""
    policy = inline_ptx("createpolicy.fractional.L2::evict_last.b64 $0;", "=l")
    loads = {
        1: inline_ptx("ld.global.L2::cache_hint.b32 $0, [$1], $2;", "=r,l,l"),
        4: inline_ptx(
            "ld.global.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;", "=r,=r,=r,=r,l,l"
        ),
    }
    texts = [policy.function("policy", "i64", []).definition]
    for count, load in loads.items():
        found = "i32" if count == 1 else f"{{ {', '.join(['i32'] * count)} }}"
        operands = [("ptr", "%from"), ("i64", "%policy")]
        texts += [
            load.function(f"load{count}", found, operands).definition,
            f"define void @copy{count}(ptr %from, ptr %to) {{",
            "%policy = call i64 @policy()",
            f"%words = call {found} @load{count}(ptr %from, i64 %policy)",
            f"store {found} %words, ptr %to, align 4",
            "ret void\n}",
        ]
    source, built = tmp_path / "loads.ll", tmp_path / "loads.so"
    source.write_text("\n".join(texts))
    flags = ["-shared", "-fPIC", "-O1", "-Wno-override-module"]
    subprocess.run(["clang-22", *flags, source, "-o", built], check=True)
    library = ctypes.CDLL(str(built))
    words = (ctypes.c_uint32 * 6)(1, 2, 3, 4, 5, 6)
    for count in loads:
        copied = (ctypes.c_uint32 * 6)()
        library[f"copy{count}"](ctypes.byref(words, 4), copied)
        assert list(copied) == [2, 3, 4, 5][:count] + [0] * (6 - count)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("frobnicate.b32 $0;", "frobnicate.b32"),
        ("add.u32 $0, $0, nowhere;", "add.u32"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {$0}, $0, $0, 0, 0;", "sp"),
        ("tcgen05.alloc.cta_group::1.sync.aligned.b32 [$0], 32;", "tcgen05"),
    ],
)
def test_unknown_instructions_are_named(template: str, name: str) -> None:
    with pytest.raises(UnsupportedError, match=name):
        inline_ptx(template, "=r,0").function("f", "i32", [("i32", "%0")])


def test_operations_refused_by_name() -> None:
    for name in ("mma.sp.m16n8k16.row.col.bf16", "cp.async.bulk.tensor.g2s.im2col.3d"):
        with pytest.raises(UnsupportedError, match=name.split(".")[-1]):
            operation(f"llvm.nvvm.{name}")


def test_folder_is_complete() -> None:
    """Every C function that an operation names is declared in operations.h or the engine's."""
    header = Path(__file__).parents[4] / "compiler/cpu_device/runtime/operations/operations.h"
    text = header.read_text()
    for name in (
        "llvm.nvvm.shfl.sync.up.f32",
        "llvm.nvvm.vote.ballot.sync",
        "llvm.nvvm.match.all.sync.i64p",
        "llvm.nvvm.mbarrier.arrive.drop.expect.tx.scope.cta.space.cta",
        "llvm.nvvm.mbarrier.inval.shared",
        "llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared",
        "llvm.nvvm.cp.async.bulk.shared.cta.to.global.bytemask",
        "llvm.nvvm.cp.async.bulk.tensor.s2g.tile.5d",
        "llvm.nvvm.wmma.m8n8k4.store.d.row.f64.p3",
        "hirc.ptx.movmatrix.sync.aligned.m8n8.trans.b16",
        "llvm.nvvm.getctarank.shared.cluster",
    ):
        found = operation(name)
        assert found is not None, name
        assert found.function in text, name
