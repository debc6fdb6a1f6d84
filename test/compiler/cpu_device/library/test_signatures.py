"""The library's functions have the types of the intrinsics they stand for, and none is missing."""

from __future__ import annotations

import re
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm
import pytest

from hirc.compiler.cpu_device.intrinsics import Replacement, intrinsic
from hirc.compiler.cpu_device.packed import packed_functions

from .conftest import Library, Signature

# Types that overloaded intrinsics are used with; by the beginning of their names.
_OVERLOADS = {
    "fabs": ("f32", "f64", "f16", "bf16", "v2f16", "v2bf16"),
    "fabs.ftz": ("f32", "f16", "v2f16"),
    "ex2.approx": ("f32", "f16", "v2f16", "bf16", "v2bf16"),
    "ex2.approx.ftz": ("f32", "f16", "v2f16", "bf16", "v2bf16"),
    "flo.s": ("i32", "i64"),
    "flo.u": ("i32", "i64"),
    "fshl.clamp": ("i32",),
    "fshr.clamp": ("i32",),
    "ldu.global.f": ("f32.p1",),
    "ldu.global.i": ("i32.p1",),
    "ldu.global.p": ("p0.p1",),
    "move.ptr": ("p0",),
    "atomic.add.gen.f": ("f32.p0", "f64.p0"),
    "atomic": ("i32.p0", "i64.p0"),
}

# Those whose pointers are of other address spaces than 0, which device code here no longer has.
_POINTERS = {
    "mapa.shared.cluster": "ptr addrspace(7) (ptr addrspace(3), i32)",
    "getctarank.shared.cluster": "i32 (ptr addrspace(3))",
    "st.bulk.shared.cta": "void (ptr addrspace(3), i64, i64)",
}

# What several threads do together or what waits, and what never reaches the CPU device.
_ELSEWHERE = re.compile(
    r"(activemask|bar\.|barrier|cp\.async|elect|ldmatrix|match|mbarrier|mma|movmatrix|redux|shfl"
    r"|stmatrix|tensormap\.replace|vote|wgmma|wmma|compiler\.|internal\.|reflect).*"
)


def _known_intrinsics() -> list[str]:
    """The names of all NVVM intrinsics of llvmlite's LLVM, less their type suffixes."""
    binary = next((Path(llvmlite.__file__).parent / "binding").glob("libllvmlite.*"))
    found = re.findall(rb"\0llvm\.nvvm\.([\w.]+)(?=\0)", binary.read_bytes())
    return sorted({name.decode() for name in found})


def _with_types(name: str) -> list[str]:
    for length in range(name.count(".") + 1, 0, -1):
        start = ".".join(name.split(".")[:length])
        if (types := _OVERLOADS.get(start)) is not None:
            return [f"{name}.{type_}" for type_ in types]
    return [name]


_NAMES = [full for name in _known_intrinsics() for full in _with_types(name)]


def _called(name: str, type_: str) -> str:
    """IR that calls an intrinsic: LLVM compares the types of those that are called."""
    result, operands = re.split(r" (?=\()", type_, maxsplit=1)
    parameters = [operand for operand in operands[1:-1].split(", ") if operand]
    # Some have to be constants.
    constants = {"i1": "false", "i32": "0", "i64": "0"}
    passed = ", ".join(f"{operand} {constants.get(operand, 'undef')}" for operand in parameters)
    return (
        f"declare {result} @{name}({', '.join(parameters)})\n"
        f'define void @"use.{name}"() {{\n  call {result} @{name}({passed})\n  ret void\n}}\n'
    )


def test_the_names_are_found() -> None:
    assert len(_NAMES) > 2000
    assert {"add.rn.f", "mapa", "ex2.approx.ftz.f32", "mma.m16n8k16.row.col.f32.f32"} <= {*_NAMES}


def test_every_function_has_its_intrinsics_type(library: Library) -> None:
    declarations: list[str] = []
    used: set[str] = set()
    for name in _NAMES:
        replacement = intrinsic(f"llvm.nvvm.{name}")
        if replacement is None or replacement.kind not in (
            Replacement.FUNCTION,
            Replacement.BLOCK_FUNCTION,
        ):
            continue
        used.add(replacement.function)
        signature = library.signatures[replacement.function]
        if replacement.kind is Replacement.BLOCK_FUNCTION:
            assert signature.operands[:2] == ("ptr", "i32")
            signature = Signature(signature.result, signature.operands[2:])
        declared = str(signature)
        if (pointers := _POINTERS.get(name)) is not None:
            assert re.sub(r" addrspace\(\d\)", "", pointers) == declared
            declared = pointers
        declarations.append(_called(f"llvm.nvvm.{name}", declared))
    module = llvm.parse_assembly("".join(declarations))
    module.verify()
    unknown = [f.name for f in module.functions if "; Unknown intrinsic" in str(f)]
    assert not unknown
    others = {name for name in library.signatures if not name.startswith("hirc_nvvm_")}
    assert used | others == set(library.signatures)


@pytest.mark.parametrize("type_", ["v2f16", "v4bf16", "v16f16", "f16"])
def test_functions_of_llvm_intrinsics_have_their_types(library: Library, type_: str) -> None:
    replacement = intrinsic(f"llvm.fma.{type_}")
    assert replacement is not None
    signature = library.signatures[replacement.function]
    llvm.parse_assembly(_called(f"llvm.fma.{type_}", str(signature))).verify()


def test_a_wrong_type_is_noticed() -> None:
    with pytest.raises(RuntimeError, match="incorrect"):
        llvm.parse_assembly(_called("llvm.nvvm.add.rz.d", "float (float, float)")).verify()


def test_every_intrinsic_is_known_here_or_belongs_to_several_threads() -> None:
    unknown = [name for name in _NAMES if intrinsic(f"llvm.nvvm.{name}") is None]
    assert [name for name in unknown if not _ELSEWHERE.fullmatch(name)] == []
    both = [name for name in _NAMES if name not in unknown and _ELSEWHERE.fullmatch(name)]
    assert both == []


def test_packed_functions_are_ir() -> None:
    llvm.parse_assembly(packed_functions()).verify()


@pytest.mark.parametrize(
    ("name", "kind", "function"),
    [
        ("llvm.nvvm.nanosleep", Replacement.YIELD, ""),
        ("llvm.nvvm.exit", Replacement.EXIT, ""),
        ("llvm.nvvm.membar.gl", Replacement.FENCE, "seq_cst"),
        ("llvm.nvvm.fence.proxy.async.shared_cta", Replacement.FENCE, "acq_rel"),
        ("llvm.nvvm.prefetch.tensormap.p0", Replacement.NOTHING, ""),
        ("llvm.nvvm.ldg.global.f.v4f32.p1", Replacement.LOAD, ""),
        ("llvm.nvvm.ex2.approx.ftz.f32", Replacement.FUNCTION, "hirc_nvvm_ex2_approx_ftz_f32"),
        ("llvm.nvvm.move.ptr.p0", Replacement.FUNCTION, "hirc_nvvm_move_ptr"),
        ("llvm.nvvm.isspacep.shared", Replacement.BLOCK_FUNCTION, "hirc_nvvm_isspacep_shared"),
        ("llvm.minnum.v4f32", Replacement.INTRINSIC, "llvm.minimumnum.v4f32"),
        ("llvm.fma.f16", Replacement.FUNCTION, "hirc_nvvm_fma_rn_f16"),
        ("llvm.tanh.f32", Replacement.FUNCTION, "hirc_tanh_f32"),
    ],
)
def test_replacements(name: str, kind: Replacement, function: str) -> None:
    replacement = intrinsic(name)
    assert replacement is not None
    assert (replacement.kind, replacement.function) == (kind, function)


@pytest.mark.parametrize("name", ["llvm.fma.f32", "llvm.smax.i32", "llvm.nvvm.shfl.sync.bfly.i32"])
def test_what_is_left_alone(name: str) -> None:
    assert intrinsic(name) is None


def test_unsupported_ones_say_why() -> None:
    replacement = intrinsic("llvm.nvvm.ff2bf16x2.rs.relu")
    assert replacement is not None
    assert replacement.kind is Replacement.UNSUPPORTED
    assert "compute capability 10.0" in replacement.function
