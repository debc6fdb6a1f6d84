"""Programs as packed functions of tvm-ffi: by its C interface alone, and called by itself."""

from __future__ import annotations

import ctypes
import math
import random
import struct
from fractions import Fraction
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
func.func @fixed(%x: tensor<3x4xf32>, %fine: i1)
    -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<12xf32>) {
  cf.assert %fine, "it is not fine"
  %empty = tensor.empty() : tensor<3x4xf32>
  %y = linalg.add ins(%x, %x : tensor<3x4xf32>, tensor<3x4xf32>)
      outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.mul ins(%x, %x : tensor<3x4xf32>, tensor<3x4xf32>)
      outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  %w = linalg.sub ins(%x, %y : tensor<3x4xf32>, tensor<3x4xf32>)
      outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  %flat = tensor.collapse_shape %w [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  return %y, %z, %flat : tensor<3x4xf32>, tensor<3x4xf32>, tensor<12xf32>
}
func.func @main(%n: i8, %is: i1) -> i32 {
  %fine = arith.constant true
  cf.assert %is, "it is not"
  %wide = arith.extsi %n : i8 to i32
  return %wide : i32
}
func.func @halves(%x: tensor<1xf32>, %h: f16, %b: bf16) -> (f16, bf16) {
  return %h, %b : f16, bf16
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


def test_an_output_without_memory_is_refused() -> None:
    """It is none that the program is to allocate: the caller would not see that."""
    built = library(_PROGRAMS)
    x, nothing = np.ones(2, np.float32), np.ones(2, np.float32)
    (given, _x), (lacking, _y) = _view(x), _view(nothing)
    lacking.data = None
    arguments = (FfiAny * 3)()
    for argument, place in zip(arguments[::2], (given, lacking), strict=True):
        argument.type, argument.v.pointer = _DLTENSOR, ctypes.addressof(place)
    arguments[1].type, arguments[1].v.real = _FLOAT, 2.0
    function = getattr(ctypes.CDLL(str(built.path)), "__tvm_ffi_scaled")
    assert function(None, arguments, 3, ctypes.byref(FfiAny())) == -1
    assert "output 'y' of scaled: it has no memory" in built.loaded.last_error()


def test_scalars_are_numbers() -> None:
    status, result = _call(library(_PROGRAMS), "main", -3, True)
    assert (status, result.type, result.v.integer) == (0, _INT, -3)


def _halves(number: float) -> tuple[int, int] | None:
    """Returns what the bits of an f16 and a bf16 of a number are that was passed, None of none."""
    h, b = ctypes.c_uint16(), ctypes.c_uint16()
    x, _kept = _view(np.zeros(1, np.float32))
    kinds = ((h, 2), (b, 4))
    places = [
        x,
        *(DlTensor(ctypes.addressof(to), 1, 0, 0, code | 16 << 8 | 1 << 16) for to, code in kinds),
    ]
    built = library(_PROGRAMS)
    arguments = (FfiAny * 5)()
    for argument, place in zip((arguments[0], *arguments[3:]), places, strict=True):
        argument.type, argument.v.pointer = _DLTENSOR, ctypes.addressof(place)
    for argument in arguments[1:3]:
        argument.type, argument.v.real = _FLOAT, number
    function = getattr(ctypes.CDLL(str(built.path)), "__tvm_ffi_halves")
    failed = function(None, arguments, 5, ctypes.byref(FfiAny()))
    return None if failed else (h.value, b.value)


def _bf16(number: float) -> int:
    """Returns the bits of the nearest bf16: of the two around a number, by exact fractions."""
    if math.isinf(number) or number == 0:
        return struct.unpack("<I", struct.pack("<f", number))[0] >> 16
    (below,) = struct.unpack("<I", struct.pack("<f", abs(number)))
    around = [(below >> 16) + step for step in (-1, 0, 1)]

    def distance(bits: int) -> tuple[Fraction, int]:
        (value,) = struct.unpack("<f", struct.pack("<I", bits << 16))
        return abs(Fraction(value) - Fraction(abs(number))), bits & 1

    return min(around, key=distance) | (0x8000 if number < 0 else 0)


def test_numbers_of_16_bits_are_the_nearest() -> None:
    draw = random.Random(0)
    numbers = [0.0, -0.0, math.inf, -math.inf, 65519.9, 2.0**-24, 2.0**-25, 2.0**-25 + 2.0**-70]
    # Of many of them the nearest f32 is half way between two.
    ends = (0.0, 2.0**-11, 2.0**-8, 2.0**-45)
    numbers += [
        draw.choice((1, -1))
        * math.ldexp(1 + draw.getrandbits(9) * 2.0**-9 + sum(draw.choices(ends, k=2)), exponent)
        for exponent in range(-30, 15)
        for _ in range(20)
    ]
    for number in numbers:
        (h,) = struct.unpack("<H", struct.pack("<e", number))
        assert _halves(number) == (h, _bf16(number)), number
    assert _halves(math.nan) == (0x7E00, 0x7FC0)
    for number in (65520.0, -1e30, 3.4e38):
        assert _halves(number) is None


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("main", [128, True], "input 'input0' of main takes i8, not the number 128"),
        ("main", [1.5, True], "takes i8, not the number 1.5"),
        ("scaled", [np.zeros(2, np.float32), 1e39], "takes f32, not the number 1e+39"),
        (
            "halves",
            [np.zeros(1, np.float32), 7e4, 0.0],
            "input 'input1' of halves takes f16, not the number 70000",
        ),
        ("halves", [np.zeros(1, np.float32), 1, -1e39], "takes bf16, not the number -1e+39"),
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


class _Allocator:
    """torch's allocator, as the one that tvm-ffi's environment has; it may have no memory."""

    kind = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
    )

    def __init__(self, *, has_memory: bool = True, offset: int = 0) -> None:
        torch = pytest.importorskip("torch")
        self._loaded = ctypes.CDLL(pytest.importorskip("tvm_ffi").libinfo.find_libtvm_ffi())
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        api = pointer(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
        # Its third word, behind the version and the older interface.
        allocate = self.kind(ctypes.c_void_p.from_address(api + 16).value or 0)
        self.allocated: list[int] = []

        def counted(prototype: int, out: int, context: int, set_error: int) -> int:
            if not has_memory:
                say = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
                say(set_error)(context, b"MemoryError", b"there is no memory")
                return -1
            status = allocate(prototype, out, context, set_error)
            tensor = DlTensor.from_address((ctypes.c_void_p.from_address(out).value or 0) + 32)
            tensor.data = (tensor.data or 0) + offset
            self.allocated.append(tensor.data or 0)
            return status

        self._function = self.kind(counted)

    def __enter__(self) -> _Allocator:
        self._set(self._function)
        return self

    def __exit__(self, *error: object) -> None:
        self._set(None)

    def _set(self, function: Any) -> None:
        address = ctypes.cast(function, ctypes.c_void_p)
        assert self._loaded.TVMFFIEnvSetDLPackManagedTensorAllocator(address, 0, None) == 0


def _given(outputs: Any) -> list[np.ndarray]:
    return [np.from_dlpack(each) for each in outputs]


def test_outputs_come_from_the_caller_s_allocator() -> None:
    """Those of known sizes, by themselves or by the names that inputs have for them, also where
    other dims are returned than are computed.
    """
    tvm_ffi = pytest.importorskip("tvm_ffi")
    module = tvm_ffi.load_module(str(library(_PROGRAMS).path))
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    x, row = tvm_ffi.from_dlpack(array), tvm_ffi.from_dlpack(array[0].copy())
    with _Allocator() as allocator:
        y, z, flat = _given(module.fixed(x, True))
        assert [y.ctypes.data, z.ctypes.data, flat.ctypes.data] == allocator.allocated
        (scaled,) = _given([module.scaled(row, 2.0)])
        assert scaled.ctypes.data == allocator.allocated[3]
        _given(module.several(row)[:2])
        with pytest.raises(RuntimeError, match="it is not fine"):
            module.fixed(x, False)
        with pytest.raises(ValueError, match="it has 1 dim, the program takes 2"):
            module.fixed(row, True)
        assert len(allocator.allocated) == 10
        again = _given(module.fixed(x, True))
    for got, wanted in zip(
        (y, z, flat, scaled, again[0]),
        (2 * array, array**2, -array.ravel(), 2 * array[0], 2 * array),
        strict=True,
    ):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("allocator", [{"has_memory": False}, {"offset": 2}])
def test_the_program_allocates_what_the_caller_s_allocator_does_not(allocator: Any) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    module = tvm_ffi.load_module(str(library(_PROGRAMS).path))
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    with _Allocator(**allocator) as made:
        y, z, _ = _given(module.fixed(tvm_ffi.from_dlpack(array), True))
    np.testing.assert_array_equal(y, 2 * array)
    np.testing.assert_array_equal(z, array**2)
    assert {y.ctypes.data, z.ctypes.data}.isdisjoint(made.allocated)


def test_tvm_ffi_passes_torch_tensors() -> None:
    tvm_ffi, torch = pytest.importorskip("tvm_ffi"), pytest.importorskip("torch")
    module = tvm_ffi.load_module(str(library(_PROGRAMS).path))
    x, y = torch.arange(6.0), torch.zeros(6)
    module.scaled(x[::2].contiguous(), 2.0, y[:3])
    assert y.tolist() == [0, 4, 8, 0, 0, 0]
    assert torch.equal(torch.from_dlpack(module.scaled(x, 2.0)), 2 * x)
