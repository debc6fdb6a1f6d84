"""Every host lowering: importing their modules registers them."""

from . import (
    allocate,
    copy,
    deallocate,
    default_device,
    fill,
    host_register,
    launch,
    tensor_map,
    wait,
)
from .lowering import find_lowering

__all__ = [
    "allocate",
    "copy",
    "deallocate",
    "default_device",
    "fill",
    "find_lowering",
    "host_register",
    "launch",
    "tensor_map",
    "wait",
]
