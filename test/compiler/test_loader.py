"""Loading a library and calling its programs with NumPy's and torch's tensors."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hirc.compiler.errors import InputError
from hirc.compiler.loader import Library, load
from hirc.compiler.loader_abi import DlTensor
from support.program_command import ADD, ORIGINS, build

_X = np.arange(128, dtype=np.float32).reshape(2, 64)
_BIAS = np.arange(64, dtype=np.float32)
_Y = (_X + _BIAS) * 2


def _aligned(array: np.ndarray, offset: int = 0) -> np.ndarray:
    """A copy whose first element is `offset` bytes after a multiple of 64."""
    room = np.zeros(array.nbytes + 128, np.uint8)
    start = -room.ctypes.data % 64 + offset
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


_GIVEN = _aligned(_BIAS)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return load(build(ORIGINS, tmp_path_factory.mktemp("loader") / "origins.so", "--emit=shared"))


@pytest.fixture(scope="module")
def add(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return load(build(ADD, tmp_path_factory.mktemp("loader") / "add.so", "--emit=shared"))


def test_a_library_tells_of_its_programs(library: Library) -> None:
    assert repr(library.main) == (
        "<program main(x: nx64xf32, bias: 64xf32, k: f32) -> "
        "(y: nx64xf32, t: 64xnxf32, w: f32, same: 64xf32, n: index)>"
    )
    assert "main" in dir(library)
    with pytest.raises(AttributeError, match=r"has no program 'other': main$"):
        library.other  # noqa: B018


def test_outputs_are_of_the_inputs_kind(library: Library) -> None:
    y, t, w, same, n = library.main(_X, _GIVEN, 2.0)
    assert isinstance(y, np.ndarray)
    assert (y == _Y).all()
    assert (t == _Y.T).all()
    assert (w, n) == (0, 2)
    assert same is _GIVEN
    y, t, *_ = library.main(torch.from_numpy(_X), torch.from_numpy(_GIVEN), k=2)
    assert isinstance(y, torch.Tensor)
    assert (y.numpy() == _Y).all()
    assert t.stride() == (1, 64)


def test_outputs_can_be_written_and_passed_on(add: Library) -> None:
    y, twice = add.main(np.zeros((2, 3), np.float32), 1, 2**40)
    assert twice == 2**41
    y[0, 0] = 5
    again, _ = add.main(y, 1.5, -1)
    assert again.tolist() == [[6.5, 2.5, 2.5], [2.5, 2.5, 2.5]]


def test_tensors_of_one_allocation_keep_it(library: Library) -> None:
    y, t, *_ = library.main(_X, _GIVEN, 2.0)
    y[0, 1] = -1
    assert t[1, 0] == -1
    del y
    gc.collect()
    for _ in range(50):  # memory that was freed would be used again
        library.main(_X * 0, _GIVEN, 0.0)
    assert (t[2:] == _Y.T[2:]).all()


def test_a_view_of_an_input_keeps_the_input(library: Library) -> None:
    bias = _aligned(_BIAS)
    count = sys.getrefcount(bias)
    w = library.main(_X, bias, 2.0)[2]
    bias[0] = 9
    assert w == 9
    assert sys.getrefcount(bias) > count
    del w
    gc.collect()
    assert sys.getrefcount(bias) == count


@pytest.mark.parametrize(
    "x",
    [
        np.arange(256, dtype=np.float32).reshape(2, 128)[:, ::2],
        np.arange(128, dtype=np.float32).reshape(2, 64)[::-1, ::-1],
        np.asfortranarray(_X),
        np.zeros((0, 64), np.float32),
    ],
)
def test_strides_are_read(library: Library, x: np.ndarray) -> None:
    y = library.main(x, _GIVEN, 2.0)[0]
    assert y.shape == x.shape
    assert (y == (x + _GIVEN) * 2).all()


def test_outputs_that_are_handed_in_are_written_in_place(library: Library) -> None:
    y = np.zeros((2, 64), np.float32)
    results = library.main(_X, _GIVEN, 2.0, out={"y": y})
    assert results[0] is y
    assert (y == _Y).all()
    assert np.shares_memory(results[1], y)
    tensor = torch.zeros(2, 64)
    given = [tensor, None, None, torch.from_numpy(_GIVEN), None]
    results = library.main(torch.from_numpy(_X), given[3], 2.0, out=given)
    assert results[0] is tensor
    assert (tensor.numpy() == _Y).all()
    empty = np.zeros((0, 64), np.float32)
    assert library.main(empty, _GIVEN, 1.0, out={"y": empty.copy()})[0].shape == (0, 64)


@pytest.mark.parametrize("left", [0, 40, 64, 0.3, 0.9, -1])
def test_a_file_without_its_end_is_refused(add: Library, tmp_path: Path, left: float) -> None:
    data = add.path.read_bytes()
    size = int(left) if left > 1 else int(len(data) * left) if left >= 0 else len(data) - 1
    path = tmp_path / "cut.so"
    path.write_bytes(data[:size])
    said = "it is cut short: it has" if size else "file too short"
    with pytest.raises(InputError, match=rf"^cannot load .*cut\.so: .*{said}"):
        load(path)
    # Nothing is left of it: the whole file is loaded.
    path.write_bytes(data)
    assert repr(load(path).main) == repr(add.main)


class _Raw:
    """An array whose DLTensor is changed before anybody sees it."""

    def __init__(self, array: np.ndarray, **changes: int | None) -> None:
        self.array, self.changes = array, changes

    def __dlpack__(self, **_: Any) -> Any:
        capsule = self.array.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        tensor = DlTensor.from_address(get(capsule, b"dltensor"))
        for name, value in self.changes.items():
            setattr(tensor, name, value)
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_a_tensor_may_have_no_strides_and_begin_at_an_offset(library: Library) -> None:
    y = np.zeros((3, 64), np.float32)
    x = _Raw(np.vstack([np.zeros((1, 64), np.float32), _X]), strides=None)
    given = _Raw(y, strides=None)
    library.main(x, _GIVEN, 2.0, out={"y": given})
    assert (y[1:] == _Y).all()
    base = np.vstack([np.zeros((1, 64), np.float32), _X])
    rows = _Raw(base[:2], byte_offset=256)
    assert (library.main(rows, _GIVEN, 2.0)[0] == _Y).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"device_type": 2, "device_id": 1},
            "it is on CUDA device 1, the program runs on CUDA device 0, which is the current one: "
            "a call has all its tensors on one device, and that is to be current",
        ),
        ({"device_type": 10}, "it is on ROCm device 0, the program runs on"),
        ({"device_type": 8}, "it is on a device of DLPack's kind 8, the program runs on"),
        ({"device_type": 34}, "it is on a device of DLPack's kind 34, the program runs on"),
        ({"data": None}, "it has no memory (its data is NULL)"),
        ({"byte_offset": 2**64 - 256}, "its byte_offset is 18446744073709551360, which is more"),
        ({"dtype": 2 | 32 << 8 | 2 << 16}, "its elements are of DLPack's type code 2 with 32 bits"),
    ],
)
def test_what_a_tensor_says_of_itself_is_checked(
    library: Library, changes: dict[str, int | None], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(f"input 'x' of main: {message}")):
        library.main(_Raw(_X, **changes), _GIVEN, 2.0)


def test_a_scalar_lies_in_the_host_s_memory(library: Library) -> None:
    scalar = np.array(2.0, np.float32)
    with pytest.raises(InputError, match="'k' of main: a scalar is passed in the host's memory"):
        library.main(_X, _GIVEN, _Raw(scalar, device_type=2))
    assert (library.main(_X, _GIVEN, _Raw(scalar, device_type=3))[0] == _Y).all()


@pytest.mark.parametrize(
    ("sizes", "strides", "message"),
    [
        ((1 << 57, 64), (0, 1), "its sizes make more than 2^63 bytes, which no memory has"),
        ((2, 64), (1 << 56, 1), "size 0 is 2 and its stride 72057594037927936 elements, which is"),
    ],
)
def test_a_tensor_of_no_memory_s_size_is_refused(
    library: Library, sizes: tuple[int, int], strides: tuple[int, int], message: str
) -> None:
    room = (ctypes.c_int64 * 4)(*sizes, *strides)
    address = ctypes.addressof(room)
    with pytest.raises(InputError, match=re.escape(f"input 'x' of main: {message}")):
        library.main(_Raw(_X, sizes=address, strides=address + 16), _GIVEN, 2.0)


def _strided(sizes: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(np.zeros(128, np.float32), sizes, strides)


Call = Callable[[Any], object]
_WRONG: dict[str, Call] = {
    "input 'x' of main: its elements are f64, the program takes f32 (nx64xf32)": lambda main: main(
        _X.astype(np.float64), _GIVEN, 1.0
    ),
    "input 'x' of main: it has 1 dim, the program takes 2 (nx64xf32)": lambda main: main(
        _X[0], _GIVEN, 1.0
    ),
    "input 'x' of main: size 1 is 63, the program takes 64 (nx64xf32)": lambda main: main(
        _X[:, 1:], _GIVEN, 1.0
    ),
    "input 'bias' of main: stride 0 is 2 elements, the program takes 1 (packed rows): copy it into "
    "a tensor of that layout": lambda main: main(_X, _X.reshape(-1)[::2], 1.0),
    "input 'bias' of main: its first element is at": lambda main: main(
        _X, _aligned(_BIAS, offset=4), 1.0
    ),
    "input 'bias' of main: list is no tensor, the program takes 64xf32": lambda main: main(
        _X, [1.0] * 64, 1.0
    ),
    "input 'x' of main cannot be passed: it is read-only": lambda main: main(
        np.broadcast_to(np.float32(1), (2, 64)), _GIVEN, 1.0
    ),
    "input 'k' of main: its elements are f64, the program takes f32 (f32)": lambda main: main(
        _X, _GIVEN, np.array(1.0)
    ),
    "input 'x' of main is a masked array": lambda main: main(
        np.ma.masked_equal(_X, _X[0, 0]), _GIVEN, 1.0
    ),
    "input 'k' of main: 1e+39 is no f32": lambda main: main(_X, _GIVEN, 1e39),
    "input 'k' of main: 'one' is no f32": lambda main: main(_X, _GIVEN, "one"),
    "input 'k' of main is missing: main(x: nx64xf32, ": lambda main: main(_X, _GIVEN),
    "input 'x' of main is given twice": lambda main: main(_X, _GIVEN, 1.0, x=_X),
    "main has no input 'z': main(x: nx64xf32, ": lambda main: main(_X, _GIVEN, 1.0, z=_X),
    "main takes 3 inputs, not 4: main(x: nx64xf32, ": lambda main: main(_X, _GIVEN, 1.0, 2.0),
    "main has no output 'z': it has y, t, w, same, n": lambda main: main(
        _X, _GIVEN, 1.0, out={"z": _X}
    ),
    "out= holds 1 tensor, and main has 5 outputs": lambda main: main(_X, _GIVEN, 1.0, out=_X),
    "output 'y' of main: its memory overlaps that of input 'x'": lambda main: main(
        _X, _GIVEN, 1.0, out={"y": _X[::-1]}
    ),
    "output 'y' of main: size 1 is 63, the program takes 64": lambda main: main(
        _X, _GIVEN, 1.0, out={"y": np.zeros((2, 63), np.float32)}
    ),
    "output 'y' of main: dim 0 has stride 0: its elements share memory": lambda main: main(
        _X, _GIVEN, 1.0, out={"y": _strided((2, 64), (0, 4))}
    ),
    "output 't' of main: no memory can be handed in for it": lambda main: main(
        _X, _GIVEN, 1.0, out={"t": np.zeros((64, 2), np.float32)}
    ),
    "output 'same' of main: it is input 'bias' itself, and other memory": lambda main: main(
        _X, _GIVEN, 1.0, out={"same": _aligned(_BIAS)}
    ),
}


@pytest.mark.parametrize("message", _WRONG)
def test_what_is_wrong_is_said_and_nothing_runs(library: Library, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        _WRONG[message](library.main)
    assert (library.main(_X, _GIVEN, 2.0)[0] == _Y).all()


def _output(strides: tuple[int, int]) -> np.ndarray:
    """A 2x64 tensor of these strides in elements, in the middle of enough memory."""
    room = np.zeros(1024, np.float32)[512:]
    return np.lib.stride_tricks.as_strided(room, (2, 64), tuple(4 * each for each in strides))


@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (63, 1), (-1, 1), (2, -2), (4, 2), (0, 2)])
def test_an_output_whose_elements_share_memory_is_refused(
    library: Library, strides: tuple[int, int]
) -> None:
    message = "dim 0 has stride 0" if 0 in strides else "its strides are too small for its sizes"
    with pytest.raises(InputError, match=f"output 'y' of main: {message}: .*share"):
        library.main(_X, _GIVEN, 2.0, out={"y": _output(strides)})


@pytest.mark.parametrize(
    "strides", [(64, 1), (65, 1), (1, 2), (1, 3), (-64, -1), (128, 2), (-1, 2), (3, 2), (1, -2)]
)
def test_an_output_may_have_any_strides_that_keep_its_elements_apart(
    library: Library, strides: tuple[int, int]
) -> None:
    y = _output(strides)
    library.main(_X, _GIVEN, 2.0, out={"y": y})
    assert (y == _Y).all()
    # A dim of one element has any stride, and one of none has no elements.
    for rows in (0, 1):
        short = np.lib.stride_tricks.as_strided(y, (rows, 64), (0, 4))
        library.main(_X[:rows], _GIVEN, 2.0, out={"y": short})
        assert (short == _Y[:rows]).all()


def test_what_is_no_library_of_programs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^cannot load .*none\.so"):
        load(tmp_path / "none.so")
    path = build("func.func @f() { return }\n", tmp_path / "f.so", "--emit=shared")
    with pytest.raises(InputError, match="has no programs that can be called"):
        load(path)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_library_is_neither_copied_nor_pickled(
    library: Library, copied: Callable[[Any], Any]
) -> None:
    with pytest.raises(TypeError, match=r"nor pickled: save\(\) writes it .* hirc\.load\(\) loads"):
        copied(library)
    with pytest.raises(TypeError, match=r"nor pickled: its library's save\(\) writes a file"):
        copied(library.main)
    assert (library.new_instance().main(_X, _GIVEN, 2.0)[0] == _Y).all()


def test_a_library_is_saved_to_a_file(library: Library, tmp_path: Path) -> None:
    loaded = load(library.path)
    loaded.save(tmp_path / "copy.so")
    assert (load(tmp_path / "copy.so").main(_X, _GIVEN, 2.0)[0] == _Y).all()
    for path, message in (
        (tmp_path, f"cannot write {tmp_path}: it is a directory"),
        ("", "path is '', which names no file"),
        (b"a.so", "path takes a path (str or os.PathLike), not bytes"),
    ):
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            loaded.save(path)  # pyright: ignore[reportArgumentType]


def test_loading_needs_neither_mlir_nor_llvm_nor_torch(library: Library) -> None:
    source = f"""
import sys
from hirc.compiler.loader import load
print(load({str(library.path)!r}).main.name)
print([name for name in ("torch_mlir", "llvmlite", "torch", "numpy") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "main\n[]\n"


def test_an_output_handed_in_has_the_sizes_of_the_inputs(library: Library) -> None:
    wanted = "output 'y' of main: size 0 is 3, and 'n' is 2 by size 0 of input 'x'"
    with pytest.raises(InputError, match=wanted):
        library.main(_X, _GIVEN, 2.0, out={"y": np.zeros((3, 64), np.float32)})


_ZEROS = """\
"hir.program"() ({
^bb0(%n: index):
  %y = "hir.allocate"(%n) {zero_init} : (index) -> memref<?x2xf32>
  "hir.output"(%y) {name = "y"} : (memref<?x2xf32>) -> ()
}) {sym_name = "main", function_type = (index) -> memref<?x2xf32>} : () -> ()
"""


def test_an_output_handed_in_begins_with_zeros(tmp_path: Path) -> None:
    zeros = load(build(_ZEROS, tmp_path / "zeros.so", "--emit=shared")).main
    whole = np.ones((6, 4), np.float32)
    zeros(3, out=whole[::2, ::2])
    assert whole[::2, ::2].sum() == 0
    assert whole.sum() == 18
    packed = np.ones((3, 2), np.float32)
    zeros(3, out=packed)
    assert packed.sum() == 0
