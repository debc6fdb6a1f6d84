"""Two kernels, one of which uses what the other writes, the second launched before the first ends.

(CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".)
"""

from __future__ import annotations

from ...dialects.mlir import ir
from .device import Device

# The first chips that can (PTX ISA, "griddepcontrol").
_FIRST_CAPABILITY = 90


def can_overlap(device: Device | None) -> bool:
    """Returns whether the device launches a kernel before the one before it has ended."""
    return device is not None and device.capability >= _FIRST_CAPABILITY


def let_next_begin(device: Device | None) -> None:
    """At the beginning of the first kernel: blocks of the next may begin where there is room."""
    if can_overlap(device):
        _control("launch_dependents")


def await_previous(device: Device | None) -> None:
    """In the second kernel, before it uses anything: the first has ended, its results are seen."""
    if can_overlap(device):
        _control("wait")


def _control(kind: str) -> None:
    attribute = ir.Attribute.parse(f"#nvvm<grid_dep_action {kind}>")
    ir.Operation.create("nvvm.griddepcontrol", attributes={"kind": attribute})
