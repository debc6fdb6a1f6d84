"""Weights on a GPU: what is copied where, on which device, and what stays when it fails."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hirc.compiler.loader_abi import WeightsStruct
from support.weights import write_values

if TYPE_CHECKING:
    from conftest import Library

# Two that lie together in a file and on the device, one of few bytes, and its other name.
_VALUES = {
    "a": np.arange(64, dtype=np.float32),
    "b": np.arange(64, dtype=np.float32) + 100,
    "c": np.array([7, 8, 9], np.int8),
}
_HEADER: dict[str, Any] = {
    "a": {"dtype": "F32", "shape": [64], "data_offsets": [0, 256]},
    "b": {"dtype": "F32", "shape": [64], "data_offsets": [256, 512]},
    "c": {"dtype": "I8", "shape": [3], "data_offsets": [768, 771]},
    "tied": {"dtype": "I8", "shape": [3], "data_offsets": [768, 771]},
}
_BYTES = 1024
_DEVICES = 64


class Weights:
    """A description as the compiler writes one, and the room for its state."""

    def __init__(self, library: Library, embedded: bytes | None = None) -> None:
        self.loaded = library.loaded
        header = json.dumps(_HEADER).encode()
        self.state = (ctypes.c_uint64 * (2 * _DEVICES))()
        self.struct = WeightsStruct(header, len(header), _BYTES, b"none.safetensors")
        self.embedded = ctypes.create_string_buffer(embedded) if embedded is not None else None
        if self.embedded is not None:
            self.struct.embedded = ctypes.addressof(self.embedded)
        self.struct.state = ctypes.addressof(self.state)
        self.loaded.hirc_weights_load.restype = ctypes.c_void_p
        self.loaded.hirc_error_text.restype = ctypes.c_char_p

    def load(self) -> int | None:
        return self.loaded.hirc_weights_load(ctypes.byref(self.struct))

    @property
    def error(self) -> str:
        return self.loaded.hirc_error_text().decode()

    def is_right(self, memory: int | None) -> bool:
        """Whether the values are where the header says."""
        assert memory is not None, self.error
        return all(
            ctypes.string_at(memory + entry["data_offsets"][0], value.nbytes) == value.tobytes()
            for name, value in _VALUES.items()
            for entry in [_HEADER[name]]
        )


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = write_values(tmp_path / "w.safetensors", _VALUES)
    monkeypatch.setenv("HIRC_WEIGHTS", str(path))
    return path


def test_a_file_is_copied_once_for_each_device(library: Library, file: Path) -> None:
    weights = Weights(library)
    found: list[Any] = []
    # What lies together in both is one copy; a weight and its other name are one.
    assert library.calls(lambda: found.append(weights.load())) == [
        "cudaMalloc 1024",
        "cudaMemcpy 512 kind=4",
        "cudaMemcpy 3 kind=4",
        "cudaDeviceSynchronize 0",
    ]
    assert weights.is_right(found[0])
    assert library.calls(lambda: found.append(weights.load())) == []
    library.loaded.cudaSetDevice(3)
    other = weights.load()
    library.loaded.cudaSetDevice(0)
    assert weights.is_right(other)
    assert found[1] == found[0] != other
    assert [place for place in range(_DEVICES) if weights.state[place]] == [0, 3]


def test_embedded_values_are_copied_in_one_go(library: Library) -> None:
    image = bytearray(_BYTES)
    for name, value in _VALUES.items():
        start, end = _HEADER[name]["data_offsets"]
        image[start:end] = value.tobytes()
    weights = Weights(library, bytes(image))
    found: list[Any] = []
    calls = library.calls(lambda: found.append(weights.load()))
    assert [call for call in calls if call.startswith("cudaMemcpy")] == ["cudaMemcpy 771 kind=4"]
    assert weights.is_right(found[0])


_USE_TENSORS = r"""
#include "program.h"
#include "dlpack_abi.h"
#include <stdio.h>
int hirc_weights_use_tensors(const char *const *, const struct dl_tensor *const *, int64_t);
const char *fake_log(void);
void fake_reset(void);
int cudaSetDevice(int);
static const char header[] =
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[64],\"data_offsets\":[0,256]},"
    "\"b\":{\"dtype\":\"F32\",\"shape\":[64],\"data_offsets\":[256,512]}}";
static char state[4096];
static const struct hirc_weights weights = {
    .header = header, .header_bytes = sizeof header - 1, .bytes = 512, .state = (void *)state};
static const struct hirc_program_info program = {.name = "main", .weights = &weights};
__attribute__((used, section("hirc_listed"))) static const struct hirc_program_info *const listed =
    &program;
int main(void) {
  static float memory[128];
  static int64_t sizes[1] = {64};
  struct dl_tensor a = {.data = memory, .device = {2, 0}, .rank = 1, .type = {DL_FLOAT, 32, 1},
                        .sizes = sizes};
  struct dl_tensor b = a;
  b.data = memory + 64;
  memory[0] = 5, memory[127] = 7;
  int status = hirc_weights_use_tensors((const char *const[]){"a", "b"},
                                        (const struct dl_tensor *const[]){&a, &b}, 2);
  printf("%d %s\n%s", status, hirc_error_text(), fake_log());
  fake_reset();
  cudaSetDevice(2);
  const float *other = hirc_weights_load(&weights);
  printf("device 2: %g %g\n%s", other[0], other[127], fake_log());
  fake_reset();
  hirc_weights_unload();
  printf("unloaded\n%s", fake_log());
}
"""


def test_tensors_that_lie_side_by_side_are_copied_one_by_one(library: Library) -> None:
    # They may be allocations of their own, which no copy may go across.
    objects = (*library.bitcode.values(), library.fake, "-lpthread", "-lm")
    done = library.execute("side_by_side", _USE_TENSORS, *objects)
    given, _, later = done.stdout.partition("device 2: ")
    copies = [line for line in given.splitlines() if line.startswith("cudaMemcpy")]
    assert copies == ["cudaMemcpy 256 kind=4"] * 2, (done.stdout, done.stderr)
    # Another device has the values of the first one, as nothing else has them.
    assert later.splitlines() == [
        "5 7",
        "cudaMalloc 512",
        "cudaMemcpy 512 kind=4",
        "cudaDeviceSynchronize 2",
        "unloaded",
        "cudaFree ",
        "cudaFree ",
    ]


@pytest.mark.parametrize("call", ["cudaMalloc", "cudaMemcpy", "cudaDeviceSynchronize"])
def test_nothing_stays_where_a_call_fails(library: Library, file: Path, call: str) -> None:
    weights = Weights(library)
    logged = library.calls(lambda: (library.loaded.fake_fail(call.encode(), 2), weights.load()))
    assert weights.error.startswith(f"weights: {call}")
    made = any(line.startswith("cudaMalloc") for line in logged) and call != "cudaMalloc"
    assert ("cudaFree " in logged) == made
    assert not any(weights.state)
    library.loaded.fake_reset()
    assert weights.is_right(weights.load())


def test_ties_must_hold(library: Library, file: Path) -> None:
    weights = Weights(library)
    write_values(file, _VALUES | {"tied": np.array([7, 8, 0], np.int8)})
    assert weights.load() is None
    assert weights.error == (
        f"weights file {file}: tensors 'c' and 'tied' are one in the program, and differ"
    )
    # Either name will do, and so will the metadata's.
    values = {name: value for name, value in _VALUES.items() if name != "c"}
    write_values(file, values | {"tied": _VALUES["c"]})
    assert weights.is_right(weights.load())
    other = Weights(library)
    write_values(file, values | {"x": _VALUES["c"]}, {"c": "x"})
    assert other.is_right(other.load())


_HEADERS = [
    '{"a":{"dtype":"F32"}}',
    '{"a":{"dtype":"F32","shape":[64],"data_offsets":[0]}}',
    '{"a":{"dtype":"F32","shape":[64],"data_offsets":[256,0]}}',
    '{"a":{"dtype":"F32","shape":[-64],"data_offsets":[0,256]}}',
    '{"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,256]}}',
    '{"a":{"dtype":"F32","shape":[64],"data_offsets":[0,256]}',
    '{"a":{"dtype":"F32","shape":[64],"data_offsets":[0,256]}} x',
    '{"__metadata__":{"a":1}}',
    '{"a\\ud800":1}',
    '"a"',
    "[" * 200,
]


@pytest.mark.parametrize("header", _HEADERS)
def test_headers_that_are_none(library: Library, file: Path, header: str) -> None:
    text = header.encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text)
    weights = Weights(library)
    assert weights.load() is None
    assert weights.error == f"weights file {file}: its header is no header of a safetensors file"


def test_names_of_any_characters_and_members_to_come(library: Library, file: Path) -> None:
    entries = {
        'ü\\"/\u0001😀': {"dtype": "U8", "shape": [], "data_offsets": [0, 1]},
        **{
            name: {**_HEADER[name], "later": [{"x": [1.5e3, None, True, {}]}, "y", []]}
            for name in ("a", "b", "c")
        },
    }
    data = bytearray(771)
    for name, value in _VALUES.items():
        start, end = _HEADER[name]["data_offsets"]
        data[start:end] = value.tobytes()
    for is_ascii in (True, False):
        text = json.dumps(entries, indent=1, ensure_ascii=is_ascii).encode() + b"  \n"
        file.write_bytes(len(text).to_bytes(8, "little") + text + data)
        weights = Weights(library)
        assert weights.is_right(weights.load())
