"""Damaging inputs: text by token, line, type and number, bytes, .npy files, words."""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from zipfile import ZipFile

import llvmlite.binding as llvm
import torch

from ..compiler.session import Session
from ..dialects.mlir import ir

_LONGEST = 6000
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@#!^]?[\w.$]+|->|\s+|.', re.DOTALL)
_NUMBER = re.compile(r"(?<![\w%@#!.])-?\d+")
_MAIN = re.compile(r'sym_name = "main"')
_TYPE = re.compile(r"(?:tensor|memref|vector)<[^<>]*>|\b(?:f16|bf16|f32|f64|i1|i8|i32|i64|index)\b")
_VALUE = re.compile(r'"[^"]*"|-?\d+|true|false|null|[\[\]{}:,]')
_VALUES = ("null", "true", "-1", "0", "9223372036854775807", "1e999", '""', '"F32"', '"x"', "[]",
           "{}", "[[[", "}", ",", "NaN", '"\\ud800"')  # fmt: skip
_NUMBERS = ("0", "-1", "1", "3", "7", "255", "4096", "65537", "2147483648", "-2147483649",
            "9223372036854775807", "-9223372036854775808", "18446744073709551616")  # fmt: skip
_TYPES = ("f32", "f64", "i1", "i4", "i64", "index", "complex<f32>", "none", "tensor<f32>",
          "tensor<*xf32>", "tensor<0x3xf32>", "tensor<?xf32>", "tensor<?x?xi64>", "memref<4xf32>",
          "memref<?x?xf32, strided<[?, ?], offset: ?>>", "vector<4xf32>", "!llvm.ptr")  # fmt: skip
_WORDS = ("", "-", "--", "-o", "-O4", "--emit", "--emit=ptx", "--emit=", "--entry", "--entry=x",
          "--offload-arch", "--offload-arch=sm_1", "--check=race", "-###", "--stop-after=x", "-lm",
          "--input", "--input=", "--input==", "--input=x", "--output=", "--repeat=-1", "--repeat=x",
          "--input=x=9999999999999999999x3xf32=1", "--input=x=2x3xf33=1", "--input=x=2x3xf32=@no",
          "--split-input-file", "--canonicalize", "--cse=x", "-p", "builtin.module(", "\x01",
          "--emit-bytecode", "--verify-diagnostics", "\u00e9", "a" * 300, "../in")  # fmt: skip

# For the header of a .npy file.
_PIECES = (
    *(b">f4", b"|b1", b"<f8", b"(3, 2)", b"(-2, 3)", b"(2,", b"()", b"(2, 3, 1)", b"True", b""),
    *(b"(9223372036854775807, 3)", b"None", b"'", b"(((((((((", b"<f4" * 90, b"\0"),
)


# A kernel that calls a function of a device library, and that library.
DEVICE_CALL = """\
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @helper(f32, !llvm.ptr) -> f32
    gpu.func @k(%x: f32, %p: !llvm.ptr) kernel {
      %y = llvm.call @helper(%x, %p) : (f32, !llvm.ptr) -> f32
      llvm.store %y, %p : f32, !llvm.ptr
      gpu.return
    }
  }
}
"""
_DEVICE_LIBRARY = """\
target triple = "nvptx64-nvidia-cuda"
@factor = internal addrspace(4) constant float 2.0
define float @helper(float %x, ptr %p) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %is_first = icmp eq i32 %lane, 0
  br i1 %is_first, label %load, label %end
load:
  %old = load float, ptr %p
  br label %end
end:
  %other = phi float [ %old, %load ], [ 1.0, %0 ]
  %factor = load float, ptr addrspace(4) @factor
  %y = call float @llvm.fma.f32(float %x, float %factor, float %other)
  ret float %y
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.fma.f32(float, float, float)
"""


@dataclass
class Seeds:
    """The programs that are damaged, by where they are, and what tokens they have."""

    programs: list[tuple[str, str]]
    npy: bytes
    tokens: list[str]
    _bytecode: dict[str, bytes] = field(default_factory=dict[str, bytes])

    @cached_property
    def model(self) -> bytes:
        """A torch model, as torch.export.save writes one."""
        buffer = io.BytesIO()
        exported = torch.export.export(torch.nn.Linear(3, 2), (torch.zeros(2, 3),))
        torch.export.save(exported, buffer)
        return buffer.getvalue()

    @cached_property
    def tensors(self) -> bytes:
        """The weights of that model, as a safetensors file."""
        header = json.dumps(
            {
                "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                "bias": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]},
            }
        ).encode()
        values = struct.pack("<8f", *range(8))
        return len(header).to_bytes(8, "little") + header + values

    @cached_property
    def device_library(self) -> bytes:
        """Bitcode of the function that the program `DEVICE_CALL` calls."""
        return llvm.parse_assembly(_DEVICE_LIBRARY).as_bitcode()

    @staticmethod
    def read(tree: Path) -> Seeds:
        """Returns the programs of a checkout's tests and documentation."""
        programs: list[tuple[str, str]] = []
        for folder in ("test", "docs"):
            for path in sorted((tree / folder).rglob("*.mlir")):
                for place, text in enumerate(path.read_text().split("// -----")):
                    if 0 < len(text.strip()) < _LONGEST:
                        programs.append((f"{path}:{place}", text))
        tokens = sorted({each for _, text in programs for each in _TOKEN.findall(text)})
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
        padded = header.ljust(117) + "\n"
        npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode()
        return Seeds(programs, npy + struct.pack("<6f", *range(6)), tokens)

    def bytecode(self, name: str, text: str) -> bytes:
        """Returns a program as bytecode; the text's bytes where it is no program."""
        if name not in self._bytecode:
            session, buffer = Session(), io.BytesIO()
            try:
                ir.Module.parse(text, session.context).operation.write_bytecode(buffer)
            except ir.MLIRError:
                buffer.write(text.encode())
            self._bytecode[name] = buffer.getvalue()
        return self._bytecode[name]

    @cached_property
    def host_programs(self) -> list[str]:
        """The programs that an interpreter would run by default."""
        return [text for _, text in self.programs if _MAIN.search(text) and "hir.program" in text]


def damaged_text(text: str, seeds: Seeds, random: Random) -> str:
    """Returns a program with one to three things wrong with it."""
    ways: list[Callable[[str, Seeds, Random], str]] = [
        _damage_tokens,
        _damage_lines,
        _damage_numbers,
        _damage_types,
        _cut,
    ]
    for way in random.choices(ways, [8, 3, 4, 4, 1], k=random.randint(1, 3)):
        text = way(text, seeds, random)
    return text


def _damage_tokens(text: str, seeds: Seeds, random: Random) -> str:
    tokens = _TOKEN.findall(text) or [""]
    place, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    way = random.randrange(5)
    if way == 0:
        del tokens[place]
    elif way == 1:
        tokens.insert(place, tokens[place])
    elif way == 2:
        tokens[place], tokens[other] = tokens[other], tokens[place]
    elif way == 3:
        tokens[place] = tokens[other]
    else:
        tokens[place] = random.choice(seeds.tokens)
    return "".join(tokens)


def _damage_lines(text: str, seeds: Seeds, random: Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    place, other = random.randrange(len(lines)), random.randrange(len(lines))
    way = random.randrange(4)
    if way == 0:
        del lines[place]
    elif way == 1:
        lines.insert(other, lines[place])
    elif way == 2:
        lines[place], lines[other] = lines[other], lines[place]
    else:
        lines.insert(place, random.choice(random.choice(seeds.programs)[1].splitlines()) + "\n")
    return "".join(lines)


def _replace(pattern: re.Pattern[str], text: str, by: str, random: Random) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    return text[: match.start()] + by + text[match.end() :]


def _damage_numbers(text: str, seeds: Seeds, random: Random) -> str:
    del seeds
    return _replace(_NUMBER, text, random.choice(_NUMBERS), random)


def _damage_types(text: str, seeds: Seeds, random: Random) -> str:
    del seeds
    kinds = _TYPE.findall(text)
    return _replace(_TYPE, text, random.choice([*_TYPES, *kinds]), random)


def _cut(text: str, seeds: Seeds, random: Random) -> str:
    del seeds
    return text[: random.randrange(len(text) + 1)]


def damaged_bytes(data: bytes, random: Random) -> bytes:
    """Bytes of which some are others, missing, or there twice."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(changed) + 1)
        way = random.randrange(4)
        if way == 0:
            changed[place : place + 1] = random.randbytes(1)
        elif way == 1:
            del changed[place : place + random.randint(1, 8)]
        elif way == 2:
            changed[place:place] = changed[place : place + random.randint(1, 8)]
        elif random.random() < 0.2:
            del changed[place:]
    return bytes(changed)


def damaged_archive(data: bytes, random: Random) -> bytes:
    """Returns a zip file of which a member is damaged, or bytes that are damaged anywhere."""
    if random.random() < 0.4:
        return damaged_bytes(data, random)
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(data)) as given, ZipFile(buffer, "w") as made:
        names = given.namelist()
        chosen = random.choice(names)
        for name in names:
            member = given.read(name)
            made.writestr(name, _damaged_json(member, random) if name == chosen else member)
    return buffer.getvalue()


def damaged_tensors(data: bytes, random: Random) -> bytes:
    """Returns a safetensors file with a wrong header, or bytes that are damaged anywhere."""
    if random.random() < 0.4:
        return damaged_bytes(data, random)
    length = int.from_bytes(data[:8], "little")
    header = _damaged_json(data[8 : 8 + length], random)
    return len(header).to_bytes(8, "little") + header + data[8 + length :]


def _damaged_json(data: bytes, random: Random) -> bytes:
    """JSON with another value somewhere; bytes where it is none."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return damaged_bytes(data, random)
    return _replace(_VALUE, text, random.choice(_VALUES), random).encode()


def damaged_npy(data: bytes, random: Random) -> bytes:
    """Returns a .npy file with a wrong header, or bytes that are damaged anywhere."""
    if random.random() < 0.4:
        return damaged_bytes(data, random)
    pieces = [b"<f4", b"(2, 3)", b"False", b"'shape'", b"{", b"}", b"'descr': "]
    return data.replace(random.choice(pieces), random.choice(_PIECES))


def damaged_words(words: list[str], random: Random) -> list[str]:
    """Returns a command line with words that are missing, twice, others, or damaged inside."""
    changed = list(words)
    for _ in range(random.randint(1, 3)):
        place = random.randrange(len(changed) + 1)
        way = random.randrange(4)
        if way == 0:
            del changed[place : place + 1]
        elif way == 1:
            changed[place:place] = [random.choice(_WORDS)]
        elif way == 2:
            changed[place : place + 1] = [random.choice(_WORDS)]
        elif place < len(changed) and changed[place]:
            word = changed[place]
            cut = random.randrange(len(word) + 1)
            changed[place] = word[:cut] + random.choice("=,x0-@ \\%\u00fc") + word[cut + 1 :]
    return changed
