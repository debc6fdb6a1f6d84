"""Tensors of a call that share memory: with each other, or with what the program keeps."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hirc
from hirc.compiler.errors import InputError
from hirc.compiler.loader_abi import DlTensor, ProgramInfo

# `kept` is state of `main` and `count`, `other` of `count` alone, `w` a weight of `main`.
_PROGRAMS = """
func.func @main(%x: tensor<1x4xf32> {hir.name = "x"}, %at: index {hir.name = "at"},
                %kept: tensor<8x4xf32> {hirc.state = "kept", hirc.zero_init},
                %w: tensor<4xf32> {hirc.weight = "w"})
    -> (tensor<4xf32> {hir.name = "sum"}, index {hir.name = "next"}, f32 {hir.name = "half"},
        tensor<8x4xf32> {hirc.updates = 2}) {
  %new = tensor.insert_slice %x into %kept[%at, 0] [1, 4] [1, 1]
      : tensor<1x4xf32> into tensor<8x4xf32>
  %sum = linalg.reduce { arith.addf } ins(%new : tensor<8x4xf32>) outs(%w : tensor<4xf32>)
      dimensions = [0]
  %one = arith.constant 1 : index
  %next = arith.addi %at, %one : index
  %half = arith.constant 0.5 : f32
  return %sum, %next, %half, %new : tensor<4xf32>, index, f32, tensor<8x4xf32>
}
func.func @count(%x: tensor<4xf32> {hir.name = "x"},
                 %other: tensor<4xf32> {hirc.state = "other", hirc.zero_init})
    -> (tensor<4xf32> {hir.name = "y"}, tensor<4xf32> {hirc.updates = 1}) {
  %empty = tensor.empty() : tensor<4xf32>
  %new = linalg.add ins(%x, %other : tensor<4xf32>, tensor<4xf32>)
      outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.exp ins(%new : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %y, %new : tensor<4xf32>, tensor<4xf32>
}
"""
_F32 = 2 | 32 << 8 | 1 << 16
_CPU = 1


def _many(count: int) -> str:
    """A program of so many inputs that their memory is not compared pair by pair."""
    inputs = ", ".join(
        f'%x{place}: tensor<4xf32> {{hir.name = "x{place}"}}' for place in range(count)
    )
    return f"""
func.func @main({inputs}, %kept: tensor<4xf32> {{hirc.state = "kept", hirc.zero_init}},
    %k: f32 {{hir.name = "k"}})
    -> (tensor<4xf32> {{hir.name = "y"}}, f32 {{hir.name = "twice"}},
        tensor<4xf32> {{hirc.updates = {count}}}) {{
  %empty = tensor.empty() : tensor<4xf32>
  %new = linalg.add ins(%x0, %kept : tensor<4xf32>, tensor<4xf32>)
      outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.exp ins(%new : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %twice = arith.addf %k, %k : f32
  return %y, %twice, %new : tensor<4xf32>, f32, tensor<4xf32>
}}
"""


def _save(path: Path, **values: np.ndarray) -> Path:
    header: dict[str, Any] = {}
    end = 0
    for name, value in values.items():
        start, end = end, end + value.nbytes
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    data = b"".join(value.tobytes() for value in values.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.fixture(scope="module", params=["in process", "library"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("overlaps")
    weights = _save(folder / "w.safetensors", w=np.ones(4, np.float32))
    made = hirc.compile(_PROGRAMS, target="cpu", weights_from=weights)
    if request.param == "in process":
        return made
    made.save(folder / "liboverlaps.so")
    return hirc.load(folder / "liboverlaps.so")


def _state(programs: Any, name: str) -> np.ndarray:
    """Returns the state, which is torch's where that is loaded, as NumPy's array."""
    return np.from_dlpack(programs.state[name])


def _scalar(array: np.ndarray, place: int, kind: type = np.int64) -> np.ndarray:
    """Returns an array without dims in another one's memory."""
    return array.view(kind)[place : place + 1].reshape(())


_ROW = np.ones((1, 4), np.float32)
_SUM = np.zeros(4, np.float32)
_WIDE = np.zeros(2, np.int64)
_WRONG: dict[str, Callable[[Any], object]] = {
    "output 'next' of main: its memory overlaps that of output 'sum'": lambda it: it.main(
        _ROW, 0, out=[_SUM, _scalar(_SUM, 1), None]
    ),
    "output 'next' of main: its memory overlaps that of input 'x'": lambda it: it.main(
        _ROW, 0, out={"next": _scalar(_ROW[0], 0)}
    ),
    "output 'half' of main: its memory overlaps that of output 'next'": lambda it: it.main(
        _ROW, 0, out=[None, _scalar(_WIDE, 1), _scalar(_WIDE, 3, np.float32)]
    ),
    "output 'sum' of main: its memory overlaps that of input 'at'": lambda it: it.main(
        _ROW, _scalar(_SUM, 0), out={"sum": _SUM}
    ),
    "output 'next' of main: its memory overlaps that of input 'at'": lambda it: it.main(
        _ROW, _scalar(_WIDE, 0), out={"next": _scalar(_WIDE, 0)}
    ),
    "output 'sum' of main: its memory overlaps that of state 'kept'": lambda it: it.main(
        _ROW, 0, out={"sum": _state(it, "kept")[7]}
    ),
    "output 'half' of main: its memory overlaps that of state 'kept'": lambda it: it.main(
        _ROW, 0, out={"half": _state(it, "kept")[7, 3:].reshape(())}
    ),
    "input 'x' of main: its memory overlaps that of state 'kept'": lambda it: it.main(
        _state(it, "kept")[2:3], 0
    ),
    "output 'y' of count: its memory overlaps that of state 'other'": lambda it: it.count(
        _SUM, out=_state(it, "other")
    ),
    "output 'next' of main: int is no tensor, the program takes index": lambda it: it.main(
        _ROW, 0, out={"next": 3}
    ),
    "output 'half' of main: float32 is no tensor, the program takes f32": lambda it: it.main(
        _ROW, 0, out=[None, None, np.float32(3)]
    ),
    "output 'half' of main: float is no tensor, the program takes f32": lambda it: it.main(
        _ROW, 0, out=[_SUM, None, 0.5]
    ),
}


@pytest.mark.parametrize("message", _WRONG)
def test_shared_memory_is_refused(programs: Any, message: str) -> None:
    before = _state(programs, "kept").copy()
    with pytest.raises(InputError) as caught:
        _WRONG[message](programs)
    assert message in str(caught.value)
    assert (_state(programs, "kept") == before).all()


def test_memory_beside_others_is_taken(programs: Any) -> None:
    programs.reset()
    numbers = np.zeros(8, np.float32)
    given = [numbers[:4], _scalar(numbers, 2), numbers[6:7].reshape(())]
    given_back = programs.main(_ROW, _scalar(_WIDE, 1), out=given)
    assert all(one is other for one, other in zip(given_back, given, strict=True))
    assert numbers[:4].tolist() == [2.0] * 4
    assert (int(given[1]), float(given[2])) == (1, 0.5)


def test_states_of_other_programs_are_memory_as_any(programs: Any) -> None:
    """What a program does not have itself it may be given."""
    programs.reset()
    programs.main(_ROW, 1, out={"sum": _state(programs, "other")})
    assert _state(programs, "other").tolist() == [2.0] * 4
    y = programs.count(_state(programs, "kept")[1])
    np.testing.assert_allclose(y, np.exp(np.full(4, 3.0)), rtol=1e-6)
    other = programs.new_instance()
    kept = _state(other, "kept")[3]
    assert programs.main(_ROW, 2, out={"sum": kept})[0] is kept
    assert _state(other, "kept")[3].tolist() == [3.0] * 4


def test_weights_are_no_output(tmp_path: Path) -> None:
    """Callers in C find where they lie, if not by a function."""
    text = """
func.func @main(%x: tensor<4xf32> {hir.name = "x"}, %w: tensor<4xf32> {hirc.weight = "w"})
    -> (tensor<4xf32> {hir.name = "y"}) {
  %empty = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %w : tensor<4xf32>, tensor<4xf32>)
      outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
    hirc.compile(text, target="cpu").save(tmp_path / "libadd.so")
    made = hirc.load(tmp_path / "libadd.so", weights={"w": np.full(4, 2.0, np.float32)})
    first = made.loaded.hirc_programs(ctypes.byref(ctypes.c_int64()))[0]
    weights = ProgramInfo.from_address(first).weights.contents
    load = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(weights.load)
    address = load(ctypes.addressof(weights))
    assert address is not None
    sizes = (ctypes.c_int64 * 1)(4)
    x = np.ones(4, np.float32)

    def tensor(data: int) -> DlTensor:
        return DlTensor(
            data=data, device_type=_CPU, rank=1, dtype=_F32, sizes=ctypes.addressof(sizes)
        )

    taken, out = tensor(x.ctypes.data), tensor(address)
    inputs = (ctypes.c_void_p * 1)(ctypes.addressof(taken))
    outputs = (ctypes.c_void_p * 1)(ctypes.addressof(out))
    assert made.program.run(ctypes.addressof(inputs), ctypes.addressof(outputs), None) == 1
    assert "output 'y' of main: its memory overlaps that of the program's weights" in (
        made.loaded.last_error()
    )
    # To read them is right.
    taken.data, out.data = address, x.ctypes.data
    assert made.program.run(ctypes.addressof(inputs), ctypes.addressof(outputs), None) == 0
    assert made.loaded.hirc_synchronize(None) == 0
    assert x.tolist() == [4.0] * 4


def test_many_tensors() -> None:
    count = 200
    made: Any = hirc.compile(_many(count), target="cpu", opt_level=0)
    memory = np.zeros((count + 2, 4), np.float32)
    inputs = [memory[place] for place in range(count)]
    y, twice = made.main(*inputs, 2.0, out=[memory[count], memory[count + 1, :1].reshape(())])
    assert (y.tolist(), float(twice)) == ([1.0] * 4, 4.0)
    for message, given in {
        "output 'twice' of main: its memory overlaps that of input 'x77'": [
            None,
            memory[77, 3:].reshape(()),
        ],
        "output 'twice' of main: its memory overlaps that of output 'y'": [
            memory[count],
            memory[count, 3:].reshape(()),
        ],
        "output 'y' of main: its memory overlaps that of state 'kept'": [
            _state(made, "kept"),
            None,
        ],
    }.items():
        with pytest.raises(InputError, match=message):
            made.main(*inputs, 2.0, out=given)
    with pytest.raises(InputError, match="input 'x5' of main: its memory overlaps that of state"):
        made.main(*inputs[:5], _state(made, "kept"), *inputs[6:], 2.0)
