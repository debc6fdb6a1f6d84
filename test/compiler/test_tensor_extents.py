"""Tensors whose sizes and strides make more than 64 bits can count are refused, in words."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

import numpy as np
import pytest

from hirc.compiler.loader import Library, load
from hirc.compiler.loader_abi import DlTensor
from support.program_command import build

# `packed` has packed rows, `any` any strides; the output may be handed in.
_PROGRAM = """\
"hir.program"() ({
^bb0(%packed: memref<?x?x2xf32>, %any: memref<?x?xf32, strided<[?, ?]>>):
  %y = "hir.unary"(%any) {kind = "neg"}
      : (memref<?x?xf32, strided<[?, ?]>>) -> memref<?x?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?x?xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "packed"}, {name = "any"}],
    function_type = (memref<?x?x2xf32>, memref<?x?xf32, strided<[?, ?]>>) -> memref<?x?xf32>}
    : () -> ()
"""

_F32 = 2 | 32 << 8 | 1 << 16
_CPU = 1


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = tmp_path_factory.mktemp("extents") / "extents.so"
    return load(build(_PROGRAM, path, "--emit=shared"))


@dataclass
class _Tensor:
    """A DLTensor of C's; without strides its rows are packed."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self.memory = np.arange(1, 17, dtype=np.float32)
        numbers = (*self.sizes, *(self.strides or ()))
        self._room = (ctypes.c_int64 * len(numbers))(*numbers)
        address, rank = ctypes.addressof(self._room), len(self.sizes)
        self.tensor = DlTensor(
            data=self.memory.ctypes.data,
            device_type=_CPU,
            rank=rank,
            dtype=_F32,
            sizes=address,
            strides=address + 8 * rank if self.strides is not None else None,
        )


def _run(library: Library, packed: _Tensor, other: _Tensor, y: _Tensor) -> str:
    """Calls the C function; returns what was wrong, or nothing."""
    inputs = (ctypes.c_void_p * 2)(*(ctypes.addressof(each.tensor) for each in (packed, other)))
    outputs = (ctypes.c_void_p * 1)(ctypes.addressof(y.tensor))
    status = library.main.run(ctypes.addressof(inputs), ctypes.addressof(outputs), None)
    library.loaded.hirc_synchronize(None)
    return library.loaded.hirc_last_error().decode() if status else ""


_SMALL = (2, 3, 2)
_FEW = (2, 3)
_BYTES = r"its sizes make more than 2\^63 bytes"


@pytest.mark.parametrize(
    ("packed", "other", "y", "message"),
    [
        # The products wrap around to what would be right: to nothing, to a few, to a negative one.
        (_Tensor((1 << 32, 1 << 32, 2)), _Tensor(_FEW), _Tensor(_FEW), f"'packed' .*{_BYTES}"),
        (_Tensor((1 << 61, 3, 2)), _Tensor(_FEW), _Tensor(_FEW), f"'packed' .*{_BYTES}"),
        (_Tensor((1, 1 << 60, 2)), _Tensor(_FEW), _Tensor(_FEW), f"'packed' .*{_BYTES}"),
        (
            _Tensor(_SMALL),
            _Tensor((1 << 40, 1 << 40), (0, 0)),
            _Tensor(_FEW),
            f"'any' .*{_BYTES}",
        ),
        (
            _Tensor(_SMALL),
            _Tensor(_FEW, (1 << 62, 1)),
            _Tensor(_FEW),
            "'any' .*: size 0 is 2 and its stride 4611686018427387904 elements, which is more than",
        ),
        (
            _Tensor(_SMALL),
            _Tensor(_FEW, (3, -(1 << 63))),
            _Tensor(_FEW),
            "'any' .*: size 1 is 3 and its stride -9223372036854775808 elements",
        ),
        (
            _Tensor(_SMALL),
            _Tensor(_FEW),
            _Tensor(_FEW, (1, 1 << 62)),
            "output 'y' of main: size 1 is 3 and its stride 4611686018427387904",
        ),
        (
            _Tensor(_SMALL),
            _Tensor(_FEW),
            _Tensor((1 << 32, 1 << 32)),
            f"output 'y' of main: {_BYTES}",
        ),
    ],
)
def test_sizes_and_strides_beyond_64_bits_are_refused(
    library: Library, packed: _Tensor, other: _Tensor, y: _Tensor, message: str
) -> None:
    y.memory[:] = 0
    assert re.search(message, _run(library, packed, other, y))
    assert (y.memory == 0).all()


@pytest.mark.parametrize(
    ("other", "strides"),
    [((2, 3), None), ((2, 3), (3, 1)), ((1, 3), (-(1 << 63), 1)), ((0, 1 << 62), (1 << 62, 3))],
)
def test_what_is_not_there_may_lie_anywhere(
    library: Library, other: tuple[int, ...], strides: tuple[int, ...] | None
) -> None:
    x, y = _Tensor(other, strides), _Tensor(other, strides)
    y.memory[:] = 0
    assert _run(library, _Tensor((1 << 62, 0, 2)), x, y) == ""
    count = other[0] * other[1]
    assert (y.memory[:count] == -x.memory[:count]).all()
    assert (y.memory[count:] == 0).all()


def test_elements_before_the_first_one_are_memory_too(library: Library) -> None:
    backwards, y = _Tensor(_FEW, (-3, -1)), _Tensor(_FEW)
    # Elements 3 to 8 of the memory, of which y has the first.
    backwards.tensor.byte_offset = 8 * backwards.memory.itemsize
    y.tensor.data = backwards.memory.ctypes.data - 2 * backwards.memory.itemsize
    wrong = _run(library, _Tensor(_SMALL), backwards, y)
    assert (
        wrong
        == "output 'y' of main: its memory overlaps that of input 'any': an output needs its own"
    )
    y.tensor.data = y.memory.ctypes.data
    assert not _run(library, _Tensor(_SMALL), backwards, y)
    assert (y.memory[:6] == -backwards.memory[8:2:-1]).all()
