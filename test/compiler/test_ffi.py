"""Programs as packed functions of tvm-ffi: by its C interface alone, and called by itself."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

import numpy as np
import pytest
from host_ir.libraries import linked as library

import hirc
from hirc.compiler.loader_abi import DlTensor

_PROGRAMS = """
"hir.program"() ({
^bb0(%x: memref<?xf32>, %k: f32):
  %y = "hir.binary"(%x, %k) {kind = "mul"} : (memref<?xf32>, f32) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "scaled", inputs = [{name = "x", sizes = ["n"]}, {name = "k"}],
    function_type = (memref<?xf32>, f32) -> memref<?xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
  "hir.output"(%x) {name = "same"} : (memref<?xf32>) -> ()
  "hir.output"(%n) {name = "n"} : (index) -> ()
}) {sym_name = "several", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> (memref<?xf32>, memref<?xf32>, index)} : () -> ()
func.func @main(%n: i8, %is: i1) -> i32 {
  %fine = arith.constant true
  cf.assert %is, "it is not"
  %wide = arith.extsi %n : i8 to i32
  return %wide : i32
}
"""
_NONE, _INT, _BOOL, _FLOAT, _DLTENSOR = 0, 1, 2, 3, 7


class FfiAny(ctypes.Structure):
    """TVMFFIAny."""

    class Value(ctypes.Union):
        _fields_: ClassVar[Any] = [
            ("integer", ctypes.c_int64),
            ("real", ctypes.c_double),
            ("pointer", ctypes.c_void_p),
        ]

    _fields_: ClassVar[Any] = [("type", ctypes.c_int32), ("zero", ctypes.c_uint32), ("v", Value)]


def _view(array: np.ndarray) -> tuple[DlTensor, Any]:
    """A DLTensor of packed f32, and what its sizes lie in."""
    sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
    dtype = 2 | 32 << 8 | 1 << 16
    return DlTensor(array.ctypes.data, 1, 0, array.ndim, dtype, ctypes.addressof(sizes)), sizes


def _call(built: hirc.Library, name: str, *values: Any) -> tuple[int, FfiAny]:
    """Calls as TVMFFISafeCallType says: the status, and the result."""
    arguments, result, kept = (FfiAny * len(values))(), FfiAny(), []
    for argument, value in zip(arguments, values, strict=True):
        if isinstance(value, np.ndarray):
            kept.append(_view(value))
            argument.type, argument.v.pointer = _DLTENSOR, ctypes.addressof(kept[-1][0])
        elif isinstance(value, float):
            argument.type, argument.v.real = _FLOAT, value
        else:
            argument.type = _BOOL if isinstance(value, bool) else _INT
            argument.v.integer = value
    function = getattr(ctypes.CDLL(str(built.path)), f"__tvm_ffi_{name}")
    return function(None, arguments, len(values), ctypes.byref(result)), result


def test_outputs_are_written_where_they_were_handed_in() -> None:
    built = library(_PROGRAMS)
    x, y = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    for factor in (2.5, 3):
        status, result = _call(built, "scaled", x, factor, y)
        assert (status, result.type) == (0, _NONE)
        assert np.array_equal(y, x * factor)
    empty = np.zeros(0, np.float32)
    assert _call(built, "scaled", empty, 1.0, empty.copy())[0] == 0


def test_scalars_are_numbers() -> None:
    status, result = _call(library(_PROGRAMS), "main", -3, True)
    assert (status, result.type, result.v.integer) == (0, _INT, -3)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("main", [128, True], "input 'input0' of main takes i8, not the number 128"),
        ("main", [1.5, True], "takes i8, not the number 1.5"),
        ("main", [1], "takes 2 inputs, and 1 outputs after them where they are handed in, not 1"),
        ("main", [1, False], "assertion failed: it is not"),
        ("scaled", [np.zeros((2, 2), np.float32), 1.0], "it has 2 dims, the program takes 1"),
        ("scaled", [np.zeros(2, np.float32), 1.0, np.zeros(3, np.float32)], "size 0 is 3"),
        # There is no libtvm_ffi to make a Tensor by, or it is loaded and there is one.
    ],
)
def test_what_is_wrong_is_said(name: str, arguments: list[Any], message: str) -> None:
    built = library(_PROGRAMS)
    assert _call(built, name, *arguments)[0] == -1
    assert message in built.loaded.last_error()


def test_tvm_ffi_calls_programs() -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    module = tvm_ffi.load_module(str(library(_PROGRAMS).path))
    array = np.arange(4, dtype=np.float32)
    x = tvm_ffi.from_dlpack(array)
    assert np.array_equal(np.from_dlpack(module.scaled(x, 3)), 3 * array)
    y, same, n = module.several(x)
    assert np.array_equal(np.from_dlpack(y), -array)
    assert np.from_dlpack(same).ctypes.data == array.ctypes.data
    assert n == 4
    with pytest.raises(ValueError, match="size 0 is 3"):
        module.scaled(x, 1.0, tvm_ffi.from_dlpack(np.zeros(3, np.float32)))
    with pytest.raises(RuntimeError, match=r"\.mlir:\d+:\d+: error: assertion failed: it is not"):
        module.main(1, False)
    with pytest.raises(TypeError, match="'k' of scaled is f32"):
        module.scaled(x, "three")


def test_tvm_ffi_passes_torch_tensors() -> None:
    tvm_ffi, torch = pytest.importorskip("tvm_ffi"), pytest.importorskip("torch")
    module = tvm_ffi.load_module(str(library(_PROGRAMS).path))
    x, y = torch.arange(6.0), torch.zeros(6)
    module.scaled(x[::2].contiguous(), 2.0, y[:3])
    assert y.tolist() == [0, 4, 8, 0, 0, 0]
    assert torch.equal(torch.from_dlpack(module.scaled(x, 2.0)), 2 * x)
