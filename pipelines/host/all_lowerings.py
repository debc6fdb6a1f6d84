"""Imports every lowering, which registers it."""

from . import (
    allocate,
    copy,
    deallocate,
    default_device,
    fill,
    host_register,
    launch,
    wait,
)

__all__ = [
    "allocate",
    "copy",
    "deallocate",
    "default_device",
    "fill",
    "host_register",
    "launch",
    "wait",
]
