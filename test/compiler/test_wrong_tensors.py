"""Calls with tensors drawn at random, most of them spoilt.

Each is refused where an oracle in Python says so, in words about one tensor, and runs otherwise;
also where calls with tensors that differ in one thing were right, and a graph repeats them.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from dataclasses import dataclass

import pytest

from hirc.compiler.loader import Library, load
from hirc.compiler.loader_abi import DlTensor
from support.program_command import build

_PROGRAM = """\
"hir.program"() ({
^bb0(%x: memref<?x8xf32>, %z: memref<?xf32, strided<[?]>>,
    %w: memref<4x6xf32, strided<[?, 1], offset: ?>>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<?x8xf32>) -> memref<?x8xf32>
  %b = "hir.unary"(%w) {kind = "neg"}
      : (memref<4x6xf32, strided<[?, 1], offset: ?>>) -> memref<4x6xf32>
  %c = "hir.unary"(%z) {kind = "neg"} : (memref<?xf32, strided<[?]>>) -> memref<?xf32>
  "hir.output"(%a) {name = "a"} : (memref<?x8xf32>) -> ()
  "hir.output"(%b) {name = "b"} : (memref<4x6xf32>) -> ()
  "hir.output"(%c) {name = "c"} : (memref<?xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x", sizes = ["n", 8]}, {name = "z", sizes = ["n"]},
    {name = "w"}], function_type = (memref<?x8xf32>, memref<?xf32, strided<[?]>>,
    memref<4x6xf32, strided<[?, 1], offset: ?>>)
    -> (memref<?x8xf32>, memref<4x6xf32>, memref<?xf32>)} : () -> ()
"""

_F32, _F16, _PAIRS = 2 | 32 << 8 | 1 << 16, 2 | 16 << 8 | 1 << 16, 2 | 32 << 8 | 2 << 16
_CPU, _CUDA, _CUDA_HOST, _OPENCL, _CUDA_MANAGED = 1, 2, 3, 4, 13
# Each tensor lies in the middle of memory of its own.
_MEMORY, _MIDDLE = 1 << 12, 1 << 11
# Beside what no memory reaches, what just lies there: 2^56 bytes.
_HUGE = (1 << 54, -(1 << 54), 1 << 57, 1 << 62, (1 << 63) - 1, -(1 << 63))
# The strides that a type asks for; None is any.
_DECLARED = {"x": (8, 1), "z": (None,), "w": (None, 1)}


@dataclass
class _Tensor:
    name: str
    sizes: list[int]
    strides: list[int] | None
    data: int
    offset: int = 0
    dtype: int = _F32
    device: int = _CPU
    device_number: int = 0
    rank: int = 0

    def __post_init__(self) -> None:
        self.rank = len(self.sizes)

    def tensor(self) -> DlTensor:
        numbers = (*self.sizes, *(self.strides or [0] * len(self.sizes)))
        self._room = (ctypes.c_int64 * len(numbers))(*numbers)
        address = ctypes.addressof(self._room)
        # One that is to be allocated has room for what it will say.
        has_strides = self.strides is not None or not self.data
        return DlTensor(
            data=self.data or None,
            device_type=self.device,
            device_id=self.device_number,
            rank=self.rank,
            dtype=self.dtype,
            sizes=address,
            strides=address + 8 * len(self.sizes) if has_strides else None,
            byte_offset=self.offset,
        )

    @property
    def steps(self) -> list[int]:
        packed = [1]
        for size in reversed(self.sizes[1:]):
            packed.insert(0, packed[0] * size)
        return packed if self.strides is None else self.strides

    @property
    def is_empty(self) -> bool:
        return 0 in self.sizes

    def elements(self) -> list[int]:
        """The address of each element."""
        indices = itertools.product(*(range(size) for size in self.sizes))
        steps = self.steps
        return [
            self.data
            + self.offset
            + 4 * sum(i * step for i, step in zip(index, steps, strict=True))
            for index in indices
        ]

    def is_wrong(self, declared: tuple[int, ...], rows: int) -> bool:
        """Whether it is not what the type says, `rows` of them where that leaves them open."""
        wanted = [rows if size < 0 else size for size in declared]
        if self.rank != len(wanted) or self.dtype != _F32 or self.sizes != wanted or rows < 0:
            return True
        # A program for the CPU device takes a GPU's memory too, of the current device.
        if self.device not in (_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED):
            return True
        if self.device == _CUDA and self.device_number != 0:
            return True
        if self.is_empty:
            return False
        asked = _DECLARED.get(self.name, (None,) * self.rank)
        dims = list(zip(self.sizes, self.steps, asked, strict=True))
        if any(size > 1 and wish not in (None, step) for size, step, wish in dims):
            return True
        if self.name != "x" and any(
            not -(1 << 54) <= (size - 1) * step < 1 << 54 for size, step, _ in dims
        ):
            return True
        if not self.data or self.offset >= 1 << 56:
            return True
        return (self.data + self.offset) % 4 != 0


def _are_wrong(inputs: list[_Tensor], outputs: list[_Tensor]) -> bool:
    x, z, w = inputs
    rows = x.sizes[0] if x.rank == 2 else 0
    shapes = ((-1, 8), (-1,), (4, 6))
    if any(each.is_wrong(shape, rows) for each, shape in zip((x, z, w), shapes, strict=True)):
        return True
    given = [
        (each, shape)
        for each, shape in zip(outputs, ((-1, 8), (4, 6), (-1,)), strict=True)
        if each.data
    ]
    if any(each.is_wrong(shape, rows) for each, shape in given):
        return True
    written = [each.elements() for each, _ in given if not each.is_empty]
    if any(len(set(each)) < len(each) for each in written):
        return True
    others = [each.elements() for each in inputs if not each.is_empty]
    spans = [(min(each), max(each) + 4) for each in [*written, *others]]
    return any(
        one[0] < other[1] and other[0] < one[1]
        for place, one in enumerate(spans[: len(written)])
        for other in spans[place + 1 :]
    )


def _spoil(draw: random.Random, tensor: _Tensor, places: list[int]) -> None:
    axis = draw.randrange(len(tensor.sizes))
    what = draw.choice(["data", "device", "dtype", "rank", "size", "stride", "offset", "place"])
    if what == "data":
        tensor.data = 0
    elif what == "device":
        tensor.device = draw.choice([_CUDA, _CUDA_HOST, _CUDA_MANAGED, _OPENCL, 64, -1])
        tensor.device_number = draw.choice([0, 0, 1])
    elif what == "dtype":
        tensor.dtype = draw.choice([_F16, _PAIRS])
    elif what == "rank":
        tensor.rank = draw.choice([0, 1, 2, 3])
    elif what == "size":
        tensor.sizes[axis] = draw.choice([0, -1, tensor.sizes[axis] + 1, *_HUGE])
    elif what == "stride":
        tensor.strides = list(tensor.steps)
        tensor.strides[axis] = draw.choice([0, 1, -1, 2, 7, 9, *_HUGE])
    elif what == "offset":
        tensor.offset = draw.choice([1, 2, 4, 1 << 56, 1 << 63])
    elif tensor.data:
        tensor.data = draw.choice(places) + draw.choice([0, 4, 64])


def _drawn(draw: random.Random, places: list[int]) -> tuple[list[_Tensor], list[_Tensor]]:
    rows = draw.choice([0, 1, 3, 5])
    x, z, w, a, b, c = places
    inputs = [
        _Tensor("x", [rows, 8], draw.choice([None, [8, 1]]), x),
        _Tensor("z", [rows], draw.choice([None, [1], [2], [-1], [0]]), z),
        _Tensor("w", [4, 6], draw.choice([None, [6, 1], [9, 1], [0, 1], [-6, 1]]), w),
    ]
    outputs = [
        _Tensor("a", [rows, 8], draw.choice([None, [8, 1], [10, 1], [1, max(rows, 1)]]), a),
        _Tensor("b", [4, 6], draw.choice([None, [6, 1], [1, 4], [7, 1]]), b),
        _Tensor("c", [rows], draw.choice([None, [1], [2]]), c),
    ]
    for each in outputs:
        each.data = draw.choice([each.data, 0])
    for each in draw.choices([*inputs, *outputs], k=draw.choice([0, 1, 1, 2])):
        _spoil(draw, each, places)
    return inputs, outputs


def _pointers(tensors: list[DlTensor]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(tensors))(*map(ctypes.addressof, tensors))


def _call(library: Library, inputs: list[_Tensor], outputs: list[_Tensor]) -> int:
    """Returns the status, and frees what the call allocated."""
    taken, made = ([each.tensor() for each in tensors] for tensors in (inputs, outputs))
    status = library.main.run(_pointers(taken), _pointers(made), None)
    assert library.loaded.hirc_synchronize(None) == 0
    for each, tensor in zip(outputs, made, strict=True):
        if status == 0 and not each.data and tensor.data:
            assert library.loaded.hirc_free_output(tensor.data, None) == 0
    return status


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = tmp_path_factory.mktemp("wrong") / "wrong.so"
    return load(build(_PROGRAM, path, "--emit=shared"))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_wrong_is_refused(library: Library, seed: int) -> None:
    draw = random.Random(seed)
    memory = [ctypes.create_string_buffer(_MEMORY + 64) for _ in range(6)]
    places = [(ctypes.addressof(each) + 63) // 64 * 64 + _MIDDLE for each in memory]
    refused = 0
    for _ in range(800):
        inputs, outputs = _drawn(draw, places)
        is_wrong = _are_wrong(inputs, outputs)
        status = _call(library, inputs, outputs)
        assert status == int(is_wrong), (inputs, outputs, library.loaded.last_error())
        refused += is_wrong
        if is_wrong:
            assert "put '" in library.loaded.last_error()
    assert 200 < refused < 600


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = tmp_path_factory.mktemp("replayed") / "replayed.so"
    return load(build(_PROGRAM, path, "--emit=shared", "--graph=always"))


@pytest.mark.parametrize("seed", range(2))
def test_what_is_wrong_is_refused_after_calls_that_repeat(replayed: Library, seed: int) -> None:
    draw = random.Random(seed)
    memory = [ctypes.create_string_buffer(_MEMORY + 64) for _ in range(6)]
    places = [(ctypes.addressof(each) + 63) // 64 * 64 + _MIDDLE for each in memory]
    x, z, w, a, b, c = places
    refused = 0

    for _ in range(300):
        strides = draw.choice([None, [8, 1]]), draw.choice([None, [1]]), draw.choice([None, [6, 1]])
        inputs = [
            _Tensor("x", [3, 8], strides[0], x),
            _Tensor("z", [3], strides[1], z),
            _Tensor("w", [4, 6], strides[2], w),
        ]
        outputs = [
            _Tensor("a", [3, 8], strides[0], a),
            _Tensor("b", [4, 6], strides[2], b),
            _Tensor("c", [3], strides[1], c),
        ]
        for _ in range(2):
            assert _call(replayed, inputs, outputs) == 0
        _spoil(draw, draw.choice([*inputs, *outputs]), places)
        is_wrong = _are_wrong(inputs, outputs)
        assert _call(replayed, inputs, outputs) == int(is_wrong), (inputs, outputs)
        refused += is_wrong
    assert 60 < refused < 290
    counts = (ctypes.c_int64 * 5)()
    replayed.loaded.hirc_graph_counts(counts)
    assert counts[4] > 200
