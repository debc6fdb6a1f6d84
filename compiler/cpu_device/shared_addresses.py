"""The addresses of shared variables: where a block's shared memory lies is known when it runs."""

from __future__ import annotations

from .block_layout import BLOCK, FIELDS, KERNEL_FIELDS
from .device_ir import Function
from .llvm_text import GLOBAL
from .metadata import INVARIANT
from .prologue import Prologue
from .shared_memory import SharedLayout, SharedVariable


def shared_addresses(
    layout: SharedLayout,
    variables: dict[str, SharedVariable],
    function: Function,
    prologue: Prologue,
) -> dict[str, str]:
    """Names the address of every shared variable that the function uses."""
    used = {name for item in function.instructions() for name in GLOBAL.findall(item.text)}
    symbols: dict[str, str] = {}
    for name in sorted(used.intersection(variables)):
        at = prologue.value(
            "hirc.shared.at", f"getelementptr inbounds i8, ptr {BLOCK}, i64 {FIELDS['shared']}"
        )
        base = prologue.value("hirc.shared", f"load ptr, ptr {at}, align 8, {INVARIANT}")
        offset = layout.offsets.get(name)
        symbols[name] = prologue.value(
            "hirc.variable",
            f"getelementptr inbounds i8, ptr {base}, i64 "
            f"{_static_bytes(prologue) if offset is None else offset}",
        )
    return symbols


def _static_bytes(prologue: Prologue) -> str:
    """Returns the bytes of static shared memory of the kernel that runs."""
    at = prologue.value(
        "hirc.kernel.at", f"getelementptr inbounds i8, ptr {BLOCK}, i64 {FIELDS['kernel']}"
    )
    kernel = prologue.value("hirc.kernel", f"load ptr, ptr {at}, align 8, {INVARIANT}")
    at = prologue.value(
        "hirc.static.at",
        f"getelementptr inbounds i8, ptr {kernel}, i64 {KERNEL_FIELDS['static_shared_bytes']}",
    )
    narrow = prologue.value("hirc.static32", f"load i32, ptr {at}, align 4, {INVARIANT}")
    return prologue.value("hirc.static", f"zext i32 {narrow} to i64")
