"""Containers of device code for several chips: CUDA's, as the fatbinary of CUDA 13.0 writes it
without compression, and HIP's, as clang-offload-bundler does.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from ..dialects.records import dataclass

# A header a container, then a header an image. Of an image's: kind, version, bytes of the header,
# of the image (a multiple of 8), zero, where the header says what ptxas is to be told, the version
# of its form, the capability, zeros, flags, zeros.
_CONTAINER = struct.Struct("<IHHQ")
_IMAGE = struct.Struct("<HHIQIIII8xQ16x")
# What PTX has at the end of its header: where the words for ptxas begin, and that there are none.
_WORDS = struct.Struct("<QQ")
_MAGIC, _VERSION = 0xBA55ED50, 1
_IMAGE_VERSION = 0x0101
_PTX, _ELF = 1, 2
# PTX ISA 9.0, and the form of machine code that goes with it.
_FORMS = {_PTX: 9 << 16, _ELF: 1 << 16 | 8}
# 64 bits, Linux; the marks of variants of a chip.
_FLAGS = 0x11
_VARIANTS = {"": 0, "a": 0x100000, "f": 0x200000}


@dataclass(frozen=True)
class DeviceCode:
    """Machine code for one chip, or PTX that the driver compiles for it; of AMD's a code object."""

    arch: str
    data: bytes
    is_ptx: bool = False


def fatbin(images: Sequence[DeviceCode]) -> bytes:
    """Returns the container of device code for several chips."""
    packed = b"".join(map(_packed, images))
    return _CONTAINER.pack(_MAGIC, _VERSION, _CONTAINER.size, len(packed)) + packed


# LLVM's "Clang Offload Bundler": a header, an entry of the host without bytes, and one a code
# object, each of which begins on a page.
_BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_BUNDLE_ENTRY = struct.Struct("<QQQ")
_BUNDLE_HOST = b"host-x86_64-unknown-linux-gnu-"
BUNDLE_ALIGNMENT = 4096


def offload_bundle(images: Sequence[DeviceCode]) -> bytes:
    """Returns HIP's container of code objects for several chips."""
    names = [f"hipv4-amdgcn-amd-amdhsa--{image.arch}".encode() for image in images]
    whole = [(_BUNDLE_HOST, b""), *zip(names, (image.data for image in images), strict=True)]
    size = len(_BUNDLE_MAGIC) + 8 + sum(_BUNDLE_ENTRY.size + len(name) for name, _ in whole)
    head = _BUNDLE_MAGIC + struct.pack("<Q", len(whole))
    body = b""
    for name, data in whole:
        body += b"\0" * (-(size + len(body)) % BUNDLE_ALIGNMENT)
        head += _BUNDLE_ENTRY.pack(size + len(body), len(data), len(name)) + name
        body += data
    return head + body


def _packed(image: DeviceCode) -> bytes:
    match = re.fullmatch(r"sm_(\d+)([af]?)", image.arch)
    assert match is not None, image.arch
    kind = _PTX if image.is_ptx else _ELF
    data = image.data + b"\0" * image.is_ptx
    data += b"\0" * (-len(data) % 8)
    flags = _FLAGS | _VARIANTS[match[2]]
    words, words_at = b"", 0
    if image.is_ptx:
        words_at = _IMAGE.size
        words = _WORDS.pack(words_at + _WORDS.size // 2, 0)
    size = _IMAGE.size + len(words)
    header = _IMAGE.pack(
        *(kind, _IMAGE_VERSION, size, len(data), 0, words_at),
        *(_FORMS[kind], int(match[1]), flags),
    )
    return header + words + data
