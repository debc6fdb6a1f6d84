"""LLVM's OffloadBinary container, version 1: device images with the arch they are for.

Layout as clang 16 to 23 read it (docs/offload-abi.md): little-endian, everything 8-aligned.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum

from ..dialects.records import dataclass

_MAGIC = b"\x10\xff\x10\xad"
_VERSION = 1
_HEADER = struct.Struct("<4sIQQQ")
_ENTRY = struct.Struct("<HHIQQQQ")
_STRING = struct.Struct("<QQ")
# The number of CUDA among the kinds of offloading.
CUDA_KIND = 2


class ImageKind(IntEnum):
    """What an image's bytes are."""

    OBJECT = 1
    BITCODE = 2
    CUBIN = 3
    FATBIN = 4
    PTX = 5


@dataclass(frozen=True)
class Image:
    """Device code for one arch; `offload_kind` is the number of what registers it."""

    data: bytes
    arch: str
    triple: str
    kind: ImageKind
    offload_kind: int = CUDA_KIND


def pack(images: Sequence[Image]) -> bytes:
    """One container after another, as an embedded object holds them."""
    return b"".join(_pack_one(image) for image in images)


def unpack(data: bytes) -> list[Image]:
    """Returns the images of a sequence of containers. Raises ValueError on anything else."""
    images: list[Image] = []
    while data:
        if len(data) < _HEADER.size + _ENTRY.size:
            raise ValueError("truncated offload binary")
        magic, version, size, entry_offset, _ = _HEADER.unpack_from(data)
        if magic != _MAGIC or version != _VERSION or size > len(data):
            raise ValueError("not an offload binary of version 1")
        kind, offload_kind, _, strings, count, offset, length = _ENTRY.unpack_from(
            data, entry_offset
        )
        fields: dict[str, str] = {}
        for index in range(count):
            key, value = _STRING.unpack_from(data, strings + index * _STRING.size)
            fields[_text(data, key)] = _text(data, value)
        body = data[offset : offset + length]
        images.append(Image(body, fields["arch"], fields["triple"], ImageKind(kind), offload_kind))
        data = data[size:]
    return images


def _pack_one(image: Image) -> bytes:
    pairs = [("arch", image.arch), ("triple", image.triple)]
    table = _HEADER.size + _ENTRY.size
    text_begin = table + _STRING.size * len(pairs)
    text, offsets = b"", b""
    for key, value in pairs:
        key_at = text_begin + len(text)
        text += key.encode() + b"\0"
        value_at = text_begin + len(text)
        text += value.encode() + b"\0"
        offsets += _STRING.pack(key_at, value_at)
    image_at = _aligned(text_begin + len(text))
    size = _aligned(image_at + len(image.data))
    header = _HEADER.pack(_MAGIC, _VERSION, size, _HEADER.size, _ENTRY.size)
    entry = _ENTRY.pack(
        image.kind, image.offload_kind, 0, table, len(pairs), image_at, len(image.data)
    )
    packed = (header + entry + offsets + text).ljust(image_at, b"\0") + image.data
    return packed.ljust(size, b"\0")


def _aligned(size: int) -> int:
    return (size + 7) & ~7


def _text(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()
