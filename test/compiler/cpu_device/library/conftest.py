"""Builds the scalar device library once, with a loop over arrays around each of its functions."""

from __future__ import annotations

import ctypes
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from hirc.compiler.cpu_device.packed import packed_functions
from hirc.compiler.llvm_ir import merge_bitcode

_DEVICE = Path(__file__).parents[4] / "compiler" / "cpu_device"
_SOURCES = _DEVICE / "library"
_LIBCALLS = _DEVICE / "runtime" / "float16_libcalls.c"
_HARNESS = Path(__file__).with_name("harness.c")
_CLANG = ["clang-22", "-O2", "-fPIC", "-fvisibility=hidden"]
_C_FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-emit-llvm", "-c"]

# The type of an array's element, by the type in LLVM IR. 16-bit floating point, and vectors, are
# their bits.
_ELEMENTS: dict[str, type[np.generic]] = {
    "float": np.float32,
    "double": np.float64,
    "half": np.uint16,
    "bfloat": np.uint16,
    "<2 x half>": np.uint32,
    "<2 x bfloat>": np.uint32,
    "i1": np.uint8,
    "i16": np.uint16,
    "i32": np.uint32,
    "i64": np.uint64,
}


@dataclass(frozen=True)
class Signature:
    """A function's type, in the words of LLVM IR."""

    result: str
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.result} ({', '.join(self.operands)})"


@dataclass(frozen=True)
class Library:
    """The library in this process, and what its functions' types are."""

    signatures: dict[str, Signature]
    loaded: ctypes.CDLL

    def __call__(self, name: str, *operands: ArrayLike) -> NDArray[Any]:
        """Calls a function, named without its prefix, for each element of the arrays."""
        signature = self.signatures[f"hirc_{name}"]
        assert len(operands) == len(signature.operands)
        arrays = [
            np.ascontiguousarray(operand, _ELEMENTS[type_])
            for operand, type_ in zip(operands, signature.operands, strict=True)
        ]
        result = np.empty(arrays[0].size, _ELEMENTS[signature.result])
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (result, *arrays)]
        loop = self.loaded[f"each_hirc_{name}"]
        loop(ctypes.c_int64(result.size), *pointers)
        return result


@pytest.fixture(scope="package")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("device-library")
    packed = folder / "packed.ll"
    packed.write_text(packed_functions())
    bitcode = [
        _compiled(source, folder / f"{source.stem}.bc")
        for source in (*sorted(_SOURCES.glob("*.c")), packed)
    ]
    signatures = _signatures(llvm.parse_bitcode(merge_bitcode(bitcode)))
    loops = folder / "loops.ll"
    loops.write_text("\n".join(_loop(name, type_) for name, type_ in signatures.items()))
    whole = folder / "library.bc"
    whole.write_bytes(merge_bitcode([*bitcode, _compiled(loops, folder / "loops.bc")]))
    shared = folder / "library.so"
    _clang("-shared", str(whole), str(_LIBCALLS), str(_HARNESS), "-lm", "-o", str(shared))
    return Library(signatures, ctypes.CDLL(str(shared)))


def _clang(*arguments: str) -> None:
    done = subprocess.run(
        [*_CLANG, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def _compiled(source: Path, result: Path) -> bytes:
    flags = _C_FLAGS if source.suffix == ".c" else ["-Wno-override-module", "-emit-llvm", "-c"]
    _clang(*flags, str(source), "-o", str(result))
    return result.read_bytes()


def _signatures(module: llvm.ModuleRef) -> dict[str, Signature]:
    """The types of what device code may call."""
    return {
        function.name: Signature(*_types(str(function.global_value_type)))
        for function in module.functions
        if function.name.startswith("hirc_")
        and not function.is_declaration
        and not function.name.endswith("_packed")
    }


def _types(function: str) -> tuple[str, tuple[str, ...]]:
    match = re.fullmatch(r"(.*) \((.*)\)", function)
    assert match is not None, function
    return match[1], tuple(match[2].split(", ")) if match[2] else ()


def _loop(name: str, signature: Signature) -> str:
    """A function that calls another for the elements of arrays: count, results, operands."""
    declaration = f"declare {signature.result} @{name}({', '.join(signature.operands)})"
    if {signature.result, *signature.operands} & {"ptr", "void"}:
        return declaration
    count = len(signature.operands)
    lines: list[str] = []
    for number, type_ in enumerate(signature.operands):
        place = f"getelementptr {_stored(type_)}, ptr %in{number}, i64 %i"
        lines.append(f"%at{number} = {place}")
        lines.append(f"%stored{number} = load {_stored(type_)}, ptr %at{number}, align 1")
        lines.append(_narrowed(type_, number))
    passed = ", ".join(f"{type_} %x{n}" for n, type_ in enumerate(signature.operands))
    lines.append(f"%result = call {signature.result} @{name}({passed})")
    lines.append(f"%to = getelementptr {signature.result}, ptr %out, i64 %i")
    lines.append(f"store {signature.result} %result, ptr %to, align 1")
    pointers = "".join(f", ptr %in{number}" for number in range(count))
    body = "\n".join(lines)
    return f"""{declaration}
define void @each_{name}(i64 %count, ptr noalias %out{pointers}) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %done
body:
{body}
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}"""


def _stored(type_: str) -> str:
    return "i8" if type_ == "i1" else type_


def _narrowed(type_: str, number: int) -> str:
    if type_ == "i1":
        return f"%x{number} = trunc i8 %stored{number} to i1"
    return f"%x{number} = freeze {type_} %stored{number}"
