"""The offload binary container."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hirc.compiler.offload_binary import Image, ImageKind, pack, unpack

_TRIPLE = "nvptx64-nvidia-cuda"
_images = st.builds(
    Image,
    st.binary(max_size=100),
    st.sampled_from(["sm_80", "sm_90a", "sm_100f"]),
    st.just(_TRIPLE),
    st.sampled_from(ImageKind),
)


@given(st.lists(_images, max_size=4))
def test_unpack_gives_what_was_packed(images: list[Image]) -> None:
    data = pack(images)
    assert unpack(data) == images
    assert len(data) % 8 == 0


def test_layout() -> None:
    """Version 1 as clang 16 and newer read it, field by field."""
    data = pack([Image(b"code", "sm_90", _TRIPLE, ImageKind.BITCODE)])
    magic, version, size, entry_offset, entry_size = struct.unpack_from("<4sIQQQ", data)
    assert (magic, version, size) == (b"\x10\xff\x10\xad", 1, len(data))
    assert (entry_offset, entry_size) == (0x20, 0x28)
    kind, offload, flags, strings, count, image, length = struct.unpack_from(
        "<HHIQQQQ", data, entry_offset
    )
    assert (kind, offload, flags) == (2, 2, 0)
    assert data[image : image + length] == b"code"
    assert image % 8 == 0
    found: dict[bytes, bytes] = {}
    for index in range(count):
        key, value = struct.unpack_from("<QQ", data, strings + 16 * index)
        found[_text(data, key)] = _text(data, value)
    assert found == {b"arch": b"sm_90", b"triple": _TRIPLE.encode()}


def _text(data: bytes, offset: int) -> bytes:
    return data[offset : data.index(b"\0", offset)]


_GOOD = pack([Image(b"code" * 10, "sm_90", _TRIPLE, ImageKind.CUBIN)])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\0" + _GOOD[1:], "not an offload binary"),
        (_GOOD[:4] + b"\2" + _GOOD[5:], "not an offload binary of version 1"),
        (_GOOD[:40], "truncated"),
        (_GOOD[:-8], "not an offload binary"),
    ],
)
def test_unpack_refuses_damage(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unpack(data)
