"""Inputs of a command: NumPy files, values as text, and what is wrong with them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from numpy.lib import format as npy

from support.program_command import ELEMENTS, Command

_X = np.arange(6, dtype=np.float32).reshape(2, 3)
_PRINTED = "y: 2x3xf32\n[[0. 1. 2.]\n [3. 4. 5.]]\ntwice: i64 4\n"
_REST = ("--input=0", "--input=2")


def _file(version: tuple[int, int], array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    npy.write_array(stream, array, version=version)
    return stream.getvalue()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_version_and_order_of_npy_files_is_read(
    add: Command, version: tuple[int, int], order: str
) -> None:
    array = np.asarray(_X, order=order)  # pyright: ignore[reportCallIssue, reportArgumentType]
    (add.folder / "x.npy").write_bytes(_file(version, array))
    assert add.succeeds("--input=x.npy", *_REST) == _PRINTED


@pytest.mark.parametrize("text", ["@iota", "2x3xf32=@iota", "0,1,2,3,4,5", "2x3xf32=0,1,2,3,4,5"])
def test_values_are_given_as_text(add: Command, text: str) -> None:
    assert add.succeeds(f"--input={text}", *_REST) == _PRINTED


_WRONG_FILES = {
    "f64.npy": (
        _file((1, 0), _X.astype(np.float64)),
        "holds elements '<f8', the program takes f32",
    ),
    "big.npy": (_file((1, 0), _X.astype(">f4")), "holds elements '>f4', the program takes f32"),
    "records.npy": (_file((1, 0), np.zeros(6, [("a", "f4")])), "holds records, not numbers"),
    "short.npy": (_file((1, 0), _X)[:-4], "ends before its data do: 20 bytes for 24"),
    "text.npy": (b"no array", "is no .npy file"),
    "new.npy": (b"\x93NUMPY\x09\x00" + bytes(8), "is of a version of the .npy format"),
    "empty.npy": (b"", "is no .npy file"),
}


@pytest.mark.parametrize("name", _WRONG_FILES)
def test_a_wrong_file_is_refused(add: Command, name: str) -> None:
    data, message = _WRONG_FILES[name]
    (add.folder / name).write_bytes(data)
    assert f"input 'x': {name} {message}" in add.fails(1, f"--input={name}", *_REST)


def test_sizes_that_a_file_has_no_room_for_ask_for_no_memory(add: Command) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999, 3), }\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    (add.folder / "huge.npy").write_bytes(data)
    message = add.fails(1, "--input=huge.npy", *_REST)
    assert message.endswith("huge.npy ends before its data do: 0 bytes for 119999999999988")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.npy", "0", "2"], "input 'x': cannot read none.npy: No such file or directory"),
        (["2x4xf32=1", "0", "2"], "input 'x' of main: size 1 is 4, the program takes 3 (2x3xf32)"),
        (["6xf32=1", "0", "2"], "input 'x' of main: it has 1 dim, the program takes 2 (2x3xf32)"),
        (["2x3xf64=1", "0", "2"], "input 'x' is 2x3xf32, and elements of f64 are given"),
        (["1,2,3", "0", "2"], "input 'x': 3 numbers are given for 6 elements"),
        (["1", "zero", "2"], "input 's': cannot read zero: No such file or directory"),
        (["1", "0", "2.5"], "input 'n': '2.5' is no i64"),
        (["1", "0", "9223372036854775808"], "input 'n': '9223372036854775808' is no i64"),
        (["@range", "0", "2"], "input 'x': '@range' is neither @iota nor @random:SEED"),
        (["@random:x", "0", "2"], "input 'x': '@random:x' has no seed: @random:7"),
    ],
)
def test_a_wrong_value_is_refused(add: Command, words: list[str], message: str) -> None:
    assert add.fails(1, *(f"--input={word}" for word in words)) == message


def test_open_sizes_have_to_be_given(elements: Command) -> None:
    message = elements.fails(1, *(f"--input={name}=@iota" for name in ELEMENTS))
    assert message == (
        "input 'f64' is ?xf64, and sizes that are open have to be given: 2x3xf64=@iota"
    )


_STORED = {
    "f64": "<f8", "f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "|i1",
    "ui64": "<u8", "ui32": "<u4", "ui16": "<u2", "ui8": "|u1", "i1": "|b1", "complex<f32>": "<c8",
    "complex<f64>": "<c16", "tf32": "<f4", "bf16": "|V2", "f8E4M3FN": "|V1", "f8E5M2": "|V1",
}  # fmt: skip


def test_files_of_every_element_type_come_back_as_they_were(elements: Command) -> None:
    random = np.random.default_rng(1)
    arrays: dict[str, np.ndarray] = {}
    for name, dtype in _STORED.items():
        data = random.integers(0, 2 if name == "i1" else 120, 5 * np.dtype(dtype).itemsize)
        arrays[name] = data.astype(np.uint8).view(dtype)
        np.save(elements.folder / f"{name}.npy", arrays[name])
    inputs = [f"--input={name}={name}.npy" for name in ELEMENTS]
    outputs = [f"--output=out_{name}=out_{name}.npy" for name in ELEMENTS]
    elements.succeeds(*inputs, *outputs)
    for name, array in arrays.items():
        back = np.load(elements.folder / f"out_{name}.npy")
        assert back.dtype == array.dtype, name
        assert back.tobytes() == array.tobytes(), name


def test_floats_of_a_byte_are_read_from_bytes_too(elements: Command) -> None:
    path = Path(elements.folder) / "bytes.npy"
    np.save(path, np.array([0x38, 0xC0], np.uint8))
    given = [f"--input={name}=1x{name}=0" for name in ELEMENTS if name != "f8E4M3FN"]
    text = elements.succeeds(*given, "--input=f8E4M3FN=bytes.npy")
    assert "out_f8E4M3FN: 2xf8E4M3FN\n[ 1. -2.]\n" in text
