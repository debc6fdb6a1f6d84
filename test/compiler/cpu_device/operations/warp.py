"""A fake block for performers of stops: its exchange is made of numpy arrays, one a slot."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
LANES = 32


class Extent(ctypes.Structure):
    """struct hirc_extent"""

    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


class Block(ctypes.Structure):
    """struct hirc_block"""

    _fields_ = [
        *(
            (name, Extent)
            for name in (
                "index",
                "grid",
                "size",
                "cluster_index",
                "cluster_grid",
                "index_in_cluster",
                "cluster_size",
            )
        ),
        *(
            (name, ctypes.c_uint32)
            for name in (
                "rank_in_cluster",
                "blocks_in_cluster",
                "dynamic_shared_bytes",
                "threads",
                "padded_threads",
            )
        ),
        ("shared", ctypes.c_void_p),
        ("frames", ctypes.c_void_p),
        ("exchange", ctypes.c_void_p),
        ("next", ctypes.c_void_p),
        ("grid_id", ctypes.c_uint64),
        ("kernel", ctypes.c_void_p),
        ("cluster", ctypes.c_void_p),
        ("lanes", ctypes.c_uint32),
    ]


class Slot(ctypes.Structure):
    """struct hirc_slot"""

    _fields_ = [
        ("offset", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("constant", ctypes.c_void_p),
    ]


class Stop(ctypes.Structure):
    """struct hirc_stop"""

    _fields_ = [
        ("kind", ctypes.c_uint32),
        ("operand_count", ctypes.c_uint32),
        ("result_count", ctypes.c_uint32),
        ("parameter_count", ctypes.c_uint32),
        ("slots", ctypes.POINTER(Slot)),
        ("parameters", ctypes.POINTER(ctypes.c_int32)),
        ("perform", ctypes.c_void_p),
        ("operation", ctypes.c_char_p),
        ("source", ctypes.c_char_p),
    ]


class StopCall(ctypes.Structure):
    """struct hirc_stop_call"""

    _fields_ = [
        ("block", ctypes.POINTER(Block)),
        ("stop", ctypes.POINTER(Stop)),
        ("first_thread", ctypes.c_uint32),
        ("lanes", ctypes.c_uint64),
    ]


@dataclass(frozen=True)
class Performed:
    """What a performer returned, and the result slots of the warp's lanes."""

    done: bool
    results: list[Array]


UNTOUCHED = 0xA5


def perform(
    library: ctypes.CDLL,
    function: str,
    operands: Sequence[Array],
    results: Sequence[np.dtype[np.generic]],
    parameters: Sequence[int] = (),
    *,
    lanes: int = 0xFFFFFFFF,
    warp: int = 0,
    shared: int = 0,
) -> Performed:
    """Performs a stop for one warp of a block of `warp` + 1 warps.

    Operands are arrays over the warp's 32 lanes, and are changed where the performer changes them.
    Bytes of results that are not written hold UNTOUCHED.
    """
    padded = LANES * (warp + 1)
    widths = [array.itemsize for array in operands] + [
        np.dtype(type_).itemsize for type_ in results
    ]
    slots = (Slot * len(widths))()
    offset = 0
    for slot, width in zip(slots, widths, strict=True):
        offset = -(-offset // width) * width
        slot.offset, slot.bytes = offset, width
        offset += width
    exchange = np.full((offset + 8) * padded, UNTOUCHED, np.uint8)

    def part(number: int) -> NDArray[np.uint8]:
        start = slots[number].offset * padded + slots[number].bytes * LANES * warp
        return exchange[start : start + slots[number].bytes * LANES]

    for number, array in enumerate(operands):
        part(number)[:] = np.ascontiguousarray(array).view(np.uint8)
    block = Block(
        threads=padded, padded_threads=padded, exchange=exchange.ctypes.data, shared=shared
    )
    values = (ctypes.c_int32 * max(len(parameters), 1))(*parameters)
    stop = Stop(0, len(operands), len(results), len(parameters), slots, values, None, b"", b"")
    call = StopCall(ctypes.pointer(block), ctypes.pointer(stop), LANES * warp, lanes)
    performer = getattr(library, function)
    performer.restype = ctypes.c_bool
    done = performer(ctypes.byref(call))
    for number, array in enumerate(operands):
        array.view(np.uint8)[:] = part(number)
    given = [
        part(len(operands) + number).view(type_).copy() for number, type_ in enumerate(results)
    ]
    return Performed(bool(done), given)
