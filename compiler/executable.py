"""What a linked file holds: the libraries it needs, its device symbols, the chips it has code for.

For people and for tests; the compiler itself never reads its output back.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from ..dialects.records import dataclass
from .errors import InputError
from .object_symbols import Section, elf_sections

# ELF's dynamic section (gABI, "Dynamic Section"): pairs of a tag and a value.
_DYNAMIC = struct.Struct("<qQ")
_NEEDED = 1

# What clang-offload-bundler writes (LLVM's "Clang Offload Bundler"): a header, then an entry a code
# object, whose name ends with its chip.
_BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_BUNDLE_COUNT = struct.Struct("<Q")
_BUNDLE_ENTRY = struct.Struct("<QQQ")

# What CUDA 13.0's fatbinary writes: a header a container, then a header an image. Of an image's,
# the kind, its own size, the image's size, the capability, and marks of the a and f variants.
_CONTAINER = struct.Struct("<IHHQ")
_CONTAINER_MAGIC = 0xBA55ED50
_IMAGE = struct.Struct("<HHIQ")
_IMAGE_ARCH, _IMAGE_FLAGS = 28, 40
PTX = "PTX"
_KINDS = {1: PTX, 2: "machine code"}
_COMPRESSED = 0x8000
_VARIANTS = {0x100000: "a", 0x200000: "f"}

ENTRY_SECTION = "llvm_offload_entries"
ENTRY_BYTES = 56


@dataclass(frozen=True)
class DeviceImage:
    """Code for one chip inside a linked file: `sm_90`, and `machine code` or `PTX`."""

    arch: str
    kind: str
    bytes: int = field(default=0, compare=False)
    is_compressed: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class LinkedFile:
    """A linked executable or shared library.

    Section sizes are bytes; bss counts too. `glibc` is the oldest version of GNU's C library that
    it runs with, empty where it asks for none.
    """

    size: int
    section_sizes: Mapping[str, int]
    needed: tuple[str, ...]
    glibc: str
    device_symbols: tuple[str, ...]
    images: tuple[DeviceImage, ...]

    @property
    def entries(self) -> int:
        """Kernels and variables that are registered with CUDA or HIP when the program starts."""
        return self.section_sizes.get(ENTRY_SECTION, 0) // ENTRY_BYTES


def read_linked_file(path: Path) -> LinkedFile:
    """Reads a 64-bit little-endian ELF file that clang 21 or newer linked. Raises InputError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if data[:6] != b"\x7fELF\x02\x01":
        raise InputError(f"{path} is not a 64-bit ELF file")
    try:
        return _read(data, elf_sections(data))
    except (ValueError, struct.error) as error:
        raise InputError(f"{path} is damaged: {error}") from error


def _read(data: bytes, sections: Sequence[Section]) -> LinkedFile:
    contents = {section.name: section.content for section in sections}
    strings = contents.get(".dynstr", b"")
    names = contents.get(".llvm.rodata.offloading", b"")
    return LinkedFile(
        size=len(data),
        section_sizes={section.name: section.size for section in sections if section.name},
        needed=tuple(_needed(contents.get(".dynamic", b""), strings)),
        glibc=_oldest_glibc(strings),
        device_symbols=tuple(name.decode() for name in names.split(b"\0") if name),
        images=(
            *_images(contents.get(".nv_fatbin", b"")),
            *_code_objects(contents.get(".hip_fatbin", b"")),
        ),
    )


def _needed(dynamic: bytes, strings: bytes) -> Iterator[str]:
    for tag, value in _DYNAMIC.iter_unpack(dynamic[: len(dynamic) // 16 * 16]):
        if tag == _NEEDED:
            yield strings[value : strings.index(b"\0", value)].decode()


def _oldest_glibc(strings: bytes) -> str:
    """Returns the newest of the symbol versions that the file names."""
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", strings)
    return "{}.{}".format(*max((int(major), int(minor)) for major, minor in found)) if found else ""


def _images(fatbin: bytes) -> Iterator[DeviceImage]:
    at = 0
    while at + _CONTAINER.size <= len(fatbin):
        magic, _, header, size = _CONTAINER.unpack_from(fatbin, at)
        if magic != _CONTAINER_MAGIC:
            return
        at += header
        end = at + size
        while at < end:
            kind, _, image_header, image_size = _IMAGE.unpack_from(fatbin, at)
            (capability,) = struct.unpack_from("<I", fatbin, at + _IMAGE_ARCH)
            (flags,) = struct.unpack_from("<I", fatbin, at + _IMAGE_FLAGS)
            variant = "".join(letter for bit, letter in _VARIANTS.items() if flags & bit)
            yield DeviceImage(
                f"sm_{capability}{variant}",
                _KINDS.get(kind, f"kind {kind}"),
                image_size,
                bool(flags & _COMPRESSED),
            )
            at += image_header + image_size


def _code_objects(bundles: bytes) -> Iterator[DeviceImage]:
    """Yields the code objects of HIP's bundles, each of which follows the one before."""
    begin = 0
    while (begin := bundles.find(_BUNDLE_MAGIC, begin)) >= 0:
        at = begin + len(_BUNDLE_MAGIC)
        (count,) = _BUNDLE_COUNT.unpack_from(bundles, at)
        end = at = at + _BUNDLE_COUNT.size
        for _ in range(count):
            offset, size, length = _BUNDLE_ENTRY.unpack_from(bundles, at)
            at += _BUNDLE_ENTRY.size
            name = bundles[at : at + length].decode()
            at += length
            end = max(end, begin + offset + size)
            if not name.startswith("host-"):
                yield DeviceImage(name.rpartition("-")[2], _KINDS[2], size)
        begin = end
