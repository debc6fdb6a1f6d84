"""Copies from global to shared memory that a thread starts and waits for, from sm_80 on."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..i32 import i32
from .elements import ACCESS_BYTES


def copy_async(
    to: ir.Value, source: ir.Value, read: ir.Value | None = None, bytes_: int = ACCESS_BYTES
) -> None:
    """Begins a copy of so many bytes, 4, 8 or 16, both at such an address.

    Of them `read` (i32) are read, and zeros follow.
    """
    cached = "cg" if bytes_ == ACCESS_BYTES else "ca"
    ir.Operation.create(
        "nvvm.cp.async.shared.global",
        operands=[to, source, *([] if read is None else [read])],
        attributes={
            "size": ir.IntegerAttr.get(i32(), bytes_),
            "modifier": ir.Attribute.parse(f"#nvvm<load_cache_modifier {cached}>"),
        },
    )


def commit_copies() -> None:
    """Makes a group of the thread's copies since the last one."""
    ir.Operation.create("nvvm.cp.async.commit.group")


def wait_for_copies(groups: int) -> None:
    """Waits until at most so many of the thread's groups of copies are under way."""
    count = ir.IntegerAttr.get(i32(), groups)
    ir.Operation.create("nvvm.cp.async.wait.group", attributes={"n": count})
