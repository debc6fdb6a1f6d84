"""Programs as built-in functions of Python: what they take, raise, and hand to the slower way."""

from __future__ import annotations

import gc
import math
import sys
import threading
import weakref
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest
import torch
from host_ir.libraries import library

from hirc.compiler.errors import ExecutionError, InputError
from hirc.compiler.loader_values import ALLOCATED, ValueInfo, scalar_bytes
from support.no_memory import without_memory
from support.program_command import SEVERAL

_PROGRAMS = (
    SEVERAL
    + """
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %y = "hir.binary"(%x, %x) {kind = "add"} : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "doubled", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>):
  %z = "hir.binary"(%x, %y) {kind = "add"}
      : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
  "hir.output"(%z) {name = "z"} : (memref<?xf32>) -> ()
}) {sym_name = "added", inputs = [{name = "x"}, {name = "y"}],
    function_type = (memref<?xf32>, memref<?xf32>) -> memref<?xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %y = "hir.slice"(%x, %one, %n) {axis = 0 : i64}
      : (memref<?xf32>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
  "hir.output"(%y) {name = "y"} : (memref<?xf32, strided<[1], offset: ?>>) -> ()
}) {sym_name = "part", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> memref<?xf32, strided<[1], offset: ?>>} : () -> ()
func.func @kept(%x: tensor<1x4xf32> {hir.name = "x"}, %at: index {hir.name = "at"},
                %kept: tensor<8x4xf32> {hirc.state = "kept", hirc.zero_init})
    -> (tensor<4xf32> {hir.name = "sum"}, tensor<8x4xf32> {hirc.updates = 2}) {
  %new = tensor.insert_slice %x into %kept[%at, 0] [1, 4] [1, 1]
      : tensor<1x4xf32> into tensor<8x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%new : tensor<8x4xf32>) outs(%zero : tensor<4xf32>)
      dimensions = [0]
  return %sum, %new : tensor<4xf32>, tensor<8x4xf32>
}
func.func @main(%x: memref<?xf32>, %fine: i1) {
  cf.assert %fine, "it is not"
  return
}
"""
)

_SAME = """
func.func @same(%x: tensor<?x3xT>) -> tensor<3x?xT> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x3xT>
  %empty = tensor.empty(%n) : tensor<3x?xT>
  %y = linalg.transpose ins(%x : tensor<?x3xT>) outs(%empty : tensor<3x?xT>) permutation = [1, 0]
  return %y : tensor<3x?xT>
}
"""


def test_tensors_of_torch_go_in_and_come_out() -> None:
    several = library(_PROGRAMS).several
    assert isinstance(several.__call__, BuiltinFunctionType)
    x = torch.arange(4.0)
    y, same, n, k = several(x, 2, 7)
    assert torch.equal(y, 2 * x)
    assert same is x
    assert (n, type(n), k, type(k)) == (4, int, 2.0, float)
    # Numbers that are not of Python take the implementation in Python.
    y, _, _, _ = several(x.numpy(), 3.0, np.int16(7))
    assert isinstance(y, np.ndarray)
    y, _, _, _ = several(x.half().float(), k=1.5, i=0)
    assert torch.equal(y, 1.5 * x)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every call by the implementation in Python fail."""
    monkeypatch.setattr("hirc.compiler.loader.Call", None)


@pytest.mark.usefixtures("at_once")
def test_arrays_go_in_and_come_out() -> None:
    several = library(_PROGRAMS).several
    x = np.arange(12, dtype=np.float32)
    for given in (x, x[3:], x[:0], x.reshape(3, 4)[1]):
        y, same, n, k = several(given, 2.0, i=7)
        assert type(y) is np.ndarray
        assert y.dtype == np.float32
        assert same is given
        assert (n, k) == (given.size, 2.0)
        np.testing.assert_array_equal(y, 2 * given)
        y += 1
        np.testing.assert_array_equal(y, 2 * given + 1)
    room = np.zeros(24, np.float32)
    for out in (room[:12], room[::2], room[::-2]):
        assert library(_PROGRAMS).doubled(x, out=out) is out
        np.testing.assert_array_equal(out, 2 * x)
    # One tensor of a framework among the inputs makes all outputs its tensors.
    mixed = library(_PROGRAMS).added(x, torch.from_numpy(x))
    assert torch.equal(mixed, torch.from_numpy(2 * x))
    assert torch.equal(library(_PROGRAMS).added(torch.from_numpy(x), x), mixed)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "float64", "bool", "complex64"])
def test_arrays_of_any_type(kind: str) -> None:
    x = np.array([[0, 1, 2], [3, 0, 5]]).astype(kind)
    text = {"bool": "i1", "complex64": "complex<f32>", "float64": "f64"}.get(kind, "")
    text = text or kind.replace("uint", "ui").replace("int", "i")
    y = library(_SAME.replace("T", text)).same(x)
    assert (y.dtype, y.tolist()) == (x.dtype, x.T.tolist())


class _WithoutCapsule:
    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self) -> list[float]:
        return [1.0]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones(3), "its elements are f64"),
        (np.ones((3, 1), np.float32), "it has 2 dims"),
        (np.ones(3, ">f4"), "cannot be passed"),
        (np.frombuffer(bytes(12), np.float32), "cannot be passed"),
        (np.frombuffer(bytearray(13), np.float32, 3, 1), "multiples of 4"),
        (np.ones(3, [("a", "f4"), ("b", "f4")])["a"], "stride 0 is 2 elements"),
        (np.ones(3, object), "cannot be passed"),
        (np.ones(3, np.longdouble), "cannot be passed|its elements are"),
        (_WithoutCapsule(), "cannot be passed: .* of _WithoutCapsule returns list, no capsule"),
    ],
)
def test_arrays_that_are_wrong(x: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        library(_PROGRAMS).doubled(x)


def test_many_types_of_tensors() -> None:
    doubled = library(_PROGRAMS).doubled
    kinds = [type(f"Kind{i}", (torch.Tensor,), {}) for i in range(7)]
    tensors = [torch.arange(3.0).as_subclass(kind) for kind in kinds]
    for x in [*tensors, *tensors, np.arange(3, dtype=np.float32), *tensors]:
        assert doubled(x).tolist() == [0, 2, 4]
    with pytest.raises(InputError, match="is_neg"):
        doubled(torch.imag(torch.ones(3, dtype=torch.complex64).conj()).as_subclass(kinds[0]))


@pytest.mark.usefixtures("at_once")
def test_some_outputs_are_handed_in() -> None:
    several = library(_PROGRAMS).several
    x = torch.arange(3.0)
    for y in (torch.empty(3), np.empty(3, np.float32)):
        for out in ([y, None, None, None], (y, x, None, None)):
            count = sys.getrefcount(y)
            given, same, n, k = several(x, 3.0, 0, out=out)
            assert given is y
            assert same is x
            assert (n, k, y.tolist()) == (3, 3.0, [0, 3, 6])
            del given
            assert sys.getrefcount(y) == count
    made, *_ = several(x, 3.0, 0, out=[None] * 4)
    assert torch.equal(made, 3 * x)
    assert torch.equal(library(_PROGRAMS).doubled(x, out=[torch.empty(3)]), 2 * x)


def test_outputs_that_are_wrong() -> None:
    several = library(_PROGRAMS).several
    x, y = torch.arange(3.0), torch.empty(3)
    count = sys.getrefcount(y)
    with pytest.raises(InputError, match="out= holds 2 tensors"):
        several(x, 3.0, 0, out=[y, None])
    with pytest.raises(InputError, match="no tensor"):
        several(x, 3.0, 0, out=[y, 5, None, None])
    with pytest.raises(InputError, match="overlaps that of input 'x'"):
        several(x, 3.0, 0, out=[x, None, None, None])
    with pytest.raises(InputError, match="cannot be passed"):
        several(x, 3.0, 0, out=[np.frombuffer(bytes(12), np.float32), None, None, None])
    assert sys.getrefcount(y) == count


def test_an_output_is_handed_in() -> None:
    doubled = library(_PROGRAMS).doubled
    x, y = torch.arange(4.0), torch.zeros(8)
    assert doubled(x, out=y[::2]).tolist() == [0, 2, 4, 6]
    assert y.tolist() == [0, 0, 2, 0, 4, 0, 6, 0]
    given = np.zeros(4, np.float32)
    assert doubled(x, out=given) is given
    assert given.tolist() == [0, 2, 4, 6]
    with pytest.raises(ExecutionError, match="handed in for output 'y' has size 8 of axis 0"):
        doubled(x, out=y)
    with pytest.raises(InputError, match="overlaps that of input 'x'"):
        doubled(x, out=x)
    with pytest.raises(InputError, match="takes 1 input, not 2"):
        doubled(x, y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.ones(3, dtype=torch.float64), 1.0, 0), "its elements are f64"),
        ((torch.ones(3, 1), 1.0, 0), "it has 2 dims"),
        ((torch.ones(3), 1.0, 1 << 15), "32768 is no i16"),
        ((torch.ones(3), 1.0, 1 << 80), "is no i16"),
        ((torch.ones(3), 1.0, 0.5), "0.5 is no i16"),
        ((torch.ones(3), "one", 0), "'one' is no f32"),
        ((torch.ones(3), -1e39, 0), r"-1e\+39 is no f32"),
        ((torch.ones(3), 10**400, 0), r"10{17}\.\.\.0{19} is no f32"),
        ((np.broadcast_to(np.float32(1), 3), 1.0, 0), "it is read-only"),
        ((np.ma.masked_equal(np.arange(3, dtype=np.float32), 1), 1.0, 0), "a masked array"),
        ((torch.ones(3), 1.0), "input 'i' of several is missing"),
        ((torch.ones(3, requires_grad=True), 1.0, 0), "require gradient"),
        ((torch.imag(torch.ones(3, dtype=torch.complex64).conj()), 1.0, 0), "is_neg"),
        ((torch.ones(3, device="meta"), 1.0, 0), "cannot be passed"),
        ((None, 1.0, 0), "NoneType is no tensor"),
    ],
)
def test_what_is_wrong_is_an_input_error(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        library(_PROGRAMS).several(*arguments)


def test_what_is_nearly_wrong() -> None:
    several = library(_PROGRAMS).several
    array = np.ma.masked_equal(np.ones(3, np.float32), 2)
    assert (several(array, -math.inf, 0)[0] == -math.inf).all()
    assert (several(array, 3.4028234e38, 0)[0] == np.float32(3.4028234e38)).all()


def _tensor(name: str, error: BaseException) -> Any:
    """A tensor of which a function of this name raises an error."""
    memory = np.ones(3, np.float32)

    def fails(*_: Any, **__: Any) -> None:
        raise error

    members = {
        "__dlpack__": lambda self, **_: memory.__dlpack__(),  # pyright: ignore[reportUnknownLambdaType]
        "__dlpack_device__": lambda self: (1, 0),  # pyright: ignore[reportUnknownLambdaType]
    }
    return type("Tensor", (), {**members, name: fails})()


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("__dlpack__", KeyError("k"), "KeyError: 'k'"),
        ("__dlpack__", NotImplementedError(), "NotImplementedError"),
        ("__dlpack_device__", AttributeError("there is none"), "AttributeError: there is none"),
        ("is_neg", ValueError("it is odd"), "it is odd"),
    ],
)
def test_what_a_tensor_raises_is_an_input_error(name: str, error: Exception, said: str) -> None:
    several = library(_PROGRAMS).several
    with pytest.raises(InputError) as raised:
        several(_tensor(name, error), 1.0, 0)
    assert raised.value.message == f"input 'x' of several cannot be passed: {said}"
    assert raised.value.__cause__ is error
    for other in (MemoryError(), KeyboardInterrupt()):
        with pytest.raises(type(other)):
            several(_tensor(name, other), 1.0, 0)


def test_an_output_that_a_library_does_not_take_is_no_failure() -> None:
    doubled = library(_PROGRAMS).doubled
    y = doubled(_tensor("__array_namespace__", KeyError("k")))
    assert np.array_equal(np.from_dlpack(y), np.full(3, 2, np.float32))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_an_input_error() -> None:
    nested = torch.nested.nested_tensor([torch.ones(3), torch.ones(2)])
    with pytest.raises(InputError, match="input 'x' of several cannot be passed"):
        library(_PROGRAMS).several(nested, 1.0, 0)


class _WithoutPointer(torch.Tensor):
    def data_ptr(self) -> int:
        raise KeyError("of its own")


def test_tensors_without_memory() -> None:
    doubled = library(_PROGRAMS).doubled
    x, nothing = torch.ones(3), without_memory(3)
    with pytest.raises(InputError, match="'x' of doubled: it has no memory"):
        doubled(nothing)
    # An output without memory is none that the program is to allocate.
    for given in (nothing, [nothing], {"y": nothing}):
        with pytest.raises(InputError, match=r"'y' of doubled.* has no memory"):
            doubled(x, out=given)
    own = x.as_subclass(_WithoutPointer)
    # The slower way asks for it.
    with pytest.raises(InputError, match="'x' of doubled cannot be passed: KeyError") as caught:
        doubled(own, out={"y": torch.empty(3)})
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_that_bf16_lacks(sign: int) -> None:
    value = ValueInfo("k", "bf16", "bf16", (), 4 | 16 << 8 | 1 << 16, 2, True, ALLOCATED, 0)
    high = 0x80 if sign < 0 else 0
    for number, bits in ((3.3895e38, 0x7F7F), (math.inf, 0x7F80)):
        expected = (bits | high << 8).to_bytes(2, "little")
        assert scalar_bytes(value, sign * number, "main") == expected
    # To the nearest it is infinite, of bf16 or of f32 already.
    for number in (3.4e38, 1e39):
        with pytest.raises(InputError, match="is no bf16"):
            scalar_bytes(value, sign * number, "main")


@pytest.mark.parametrize("turn", [1, -1])
def test_the_nearest_bf16_is_found_at_once(turn: int) -> None:
    """The nearest f32 of this number is half way between two."""
    value = ValueInfo("k", "bf16", "bf16", (), 4 | 16 << 8 | 1 << 16, 2, True, ALLOCATED, 0)
    number = turn * (1 + 2.0**-8 + 2.0**-40)
    high = 0x80 if turn < 0 else 0
    assert scalar_bytes(value, number, "main") == bytes([0x81, 0x3F | high])
    assert scalar_bytes(value, math.copysign(0, turn), "main") == bytes([0, high])


_SCALARS = """
func.func @main(%i: i32 {hir.name = "i"}, %u: i8 {hir.name = "u"}, %b: i1 {hir.name = "b"},
                %f: f32 {hir.name = "f"}, %h: f16 {hir.name = "h"}, %n: index {hir.name = "n"})
    -> (i32, i8, i1, f32, f16, index) {
  return %i, %u, %b, %f, %h, %n : i32, i8, i1, f32, f16, index
}
"""
_RIGHT: dict[str, Any] = {"i": 1, "u": 2, "b": True, "f": 1.5, "h": 1.5, "n": 3}


def test_scalars_of_numpy_are_numbers() -> None:
    main = library(_SCALARS).main
    wanted = tuple(_RIGHT.values())
    assert main(*wanted) == wanted
    given = (np.int64(1), np.uint8(2), np.True_, np.float64(1.5), np.float32(1.5), np.int32(3))
    assert main(*given) == wanted
    others = (np.True_, np.int8(2), np.int64(1), np.longdouble(1.5), np.float16(1.5), np.uint64(3))
    assert main(*others) == wanted


@pytest.mark.parametrize(
    ("name", "number", "kind"),
    [
        ("i", np.float32(1), "i32"),
        ("i", np.int64(2**31), "i32"),
        ("u", np.uint8(200), "i8"),
        ("b", np.int64(2), "i1"),
        ("b", np.float64(1), "i1"),
        ("f", np.float64(1e39), "f32"),
        ("f", np.complex64(1), "f32"),
        ("f", np.str_("1"), "f32"),
        ("f", bytearray(b"1.5"), "f32"),
        ("h", np.float32(7e4), "f16"),
        ("n", np.uint64(2**63), "index"),
    ],
)
def test_scalars_of_numpy_that_a_type_lacks(name: str, number: Any, kind: str) -> None:
    with pytest.raises(InputError, match=f"^input '{name}' of main: .* is no {kind}$"):
        library(_SCALARS).main(**{**_RIGHT, name: number})


def test_instances_have_their_own_state() -> None:
    built = library(_PROGRAMS)
    one, other = built.new_instance(), built.new_instance()
    x = torch.ones(1, 4)
    assert isinstance(one.kept.__call__, BuiltinFunctionType)
    assert [int(each.kept(x, at)[0]) for at in range(2) for each in (one, other, one)] == [
        1, 1, 1, 2, 2, 2,
    ]  # fmt: skip
    assert int(built.kept(x, 5)[0]) == 1


def test_a_failure_is_an_execution_error() -> None:
    main = library(_PROGRAMS).main
    with pytest.raises(ExecutionError, match=r"error: assertion failed: it is not"):
        main(torch.ones(1), False)
    assert main(torch.ones(1), True) is None


def test_a_program_that_gives_parts_of_others_memory_takes_the_other_way() -> None:
    part = library(_PROGRAMS).part
    assert not isinstance(part.__call__, BuiltinFunctionType)
    x = torch.arange(3.0)
    assert part(x).data_ptr() == x.data_ptr() + 4


def test_nothing_is_kept() -> None:
    several = library(_PROGRAMS).several
    x = torch.arange(4.0)

    def call() -> None:
        several(x, 1.0, 0)
        with pytest.raises(InputError):
            several(x, 1.0, 1 << 15)

    def references() -> list[int]:
        gc.collect()
        return [sys.getrefcount(each) for each in (x, torch.Tensor, InputError, several)]

    call()
    before = references()
    for _ in range(100):
        call()
    grown = [after - count for after, count in zip(references(), before, strict=True)]
    assert max(grown) < 50, grown


def test_outputs_outlive_their_library() -> None:
    from host_ir import libraries

    for x in (torch.arange(4.0), np.arange(4, dtype=np.float32)):
        built = libraries.library.__wrapped__(_PROGRAMS + "// of its own")
        y = built.several(x, 2.0, 0)[0]
        loaded = weakref.ref(built.loaded)
        del built
        gc.collect()
        assert loaded() is None
        assert y.tolist() == [0, 2, 4, 6]
        del y


def test_threads_call_at_once() -> None:
    several, wrong = library(_PROGRAMS).several, list[float]()

    def call(factor: float) -> None:
        x = torch.ones(1000)
        wrong.extend(factor for _ in range(50) if several(x, factor, 0)[0][-1] != factor)

    threads = [threading.Thread(target=call, args=[float(number)]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


class _Space:
    """An array library that is no other one."""

    @staticmethod
    def from_dlpack(array: Any) -> _Array:
        return _Array(np.from_dlpack(array))


class _Array:
    """Its arrays."""

    def __init__(self, held: np.ndarray) -> None:
        self.held = held

    def __dlpack__(self, **_: Any) -> Any:
        return self.held.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.held.__dlpack_device__()

    def __array_namespace__(self) -> type[_Space]:
        return _Space


def test_outputs_are_of_the_inputs_library() -> None:
    one = library(_PROGRAMS)
    y = one.doubled(_Array(np.arange(4, dtype=np.float32)))
    assert isinstance(y, _Array)
    np.testing.assert_array_equal(y.held, [0, 2, 4, 6])


def test_outputs_of_numbers_are_torch_s_where_it_is_loaded() -> None:
    made = library(_OF_NUMBERS).made
    torch.testing.assert_close(made(3), torch.zeros(3))
    y = np.ones(3, np.float32)
    assert made(3, out=y) is y
    assert y.sum() == 0


def test_inputs_by_name_need_no_python() -> None:
    doubled = library(_PROGRAMS).doubled
    x = torch.arange(3.0)
    assert torch.equal(doubled(x=x), 2 * x)
    y = torch.empty(3)
    assert doubled(x=x, out=y, stream=None) is y
    with pytest.raises(InputError, match="no input 'z'"):
        doubled(x, z=x)
    with pytest.raises(InputError, match="given twice"):
        doubled(x, x=x)
    with pytest.raises(InputError, match="is missing"):
        doubled(out=y)


_OF_NUMBERS = """
"hir.program"() ({
^bb0(%n: index):
  %y = "hir.allocate"(%n) {zero_init, output = 0 : i64} : (index) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "made", inputs = [{name = "n"}], function_type = (index) -> memref<?xf32>} : () -> ()
"""
