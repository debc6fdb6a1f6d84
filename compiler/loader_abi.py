"""The C structs of a loaded program: runtime/program.h and runtime/dlpack_abi.h for ctypes."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

from .loader_values import ValueInfo

VERSION = 4
OPEN = -(1 << 63)


class ValueStruct(ctypes.Structure):
    """struct hirc_value_info."""

    _fields_: ClassVar[Any] = [
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_char_p),
        ("element", ctypes.c_char_p),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
        ("firsts", ctypes.POINTER(ctypes.c_int64)),
        ("alignment", ctypes.c_int64),
        ("rank", ctypes.c_int32),
        ("dtype", ctypes.c_uint32),
        ("element_bytes", ctypes.c_int32),
        ("is_scalar", ctypes.c_int32),
        ("origin", ctypes.c_int32),
        ("origin_input", ctypes.c_int32),
    ]


class StateStruct(ctypes.Structure):
    """struct hirc_state_info."""

    _fields_: ClassVar[Any] = [
        ("name", ctypes.c_char_p),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("initial", ctypes.c_int64),
        ("rank", ctypes.c_int32),
        ("dtype", ctypes.c_uint32),
    ]


class WeightsStruct(ctypes.Structure):
    """struct hirc_weights."""

    _fields_: ClassVar[Any] = [
        ("header", ctypes.c_char_p),
        ("header_bytes", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("file", ctypes.c_char_p),
        ("embedded", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
        ("load", ctypes.c_void_p),
        ("use_file", ctypes.c_void_p),
        ("unload", ctypes.c_void_p),
        ("states", ctypes.POINTER(StateStruct)),
        ("state_count", ctypes.c_int64),
        ("state_bytes", ctypes.c_int64),
        ("parts", ctypes.c_void_p),
        ("processes", ctypes.c_int64),
        ("rank", ctypes.c_void_p),
    ]


class ProgramInfo(ctypes.Structure):
    """struct hirc_program_info."""

    _fields_: ClassVar[Any] = [
        ("version", ctypes.c_int32),
        ("repeats", ctypes.c_int32),
        ("name", ctypes.c_char_p),
        ("run", ctypes.c_void_p),
        ("inputs", ctypes.POINTER(ValueStruct)),
        ("outputs", ctypes.POINTER(ValueStruct)),
        ("input_count", ctypes.c_int64),
        ("output_count", ctypes.c_int64),
        ("weights", ctypes.POINTER(WeightsStruct)),
    ]


class DlTensor(ctypes.Structure):
    """DLTensor of the DLPack specification, the element type's four bytes as one number."""

    _fields_: ClassVar[Any] = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("dtype", ctypes.c_uint32),
        ("sizes", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


def describe(first: Any, count: int) -> tuple[ValueInfo, ...]:
    """Returns the descriptions in a C array."""
    return tuple(
        ValueInfo(
            name=info.name.decode(),
            type=info.type.decode(),
            element=info.element.decode(),
            sizes=tuple(
                None if info.sizes[axis] == OPEN else info.sizes[axis] for axis in range(info.rank)
            ),
            dtype=info.dtype,
            element_bytes=info.element_bytes,
            is_scalar=bool(info.is_scalar),
            origin=info.origin,
            origin_input=info.origin_input,
        )
        for info in (first[place] for place in range(count))
    )
