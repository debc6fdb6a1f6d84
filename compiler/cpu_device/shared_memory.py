"""Where a kernel's shared variables lie in its blocks' shared memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...dialects.records import dataclass
from .device_ir import DeviceModule, Function
from .llvm_text import GLOBAL, size_and_alignment, type_end

_SHARED = re.compile(r"\baddrspace\(3\) (?:global|constant) ")
# What CUDA gives dynamic shared memory at least.
_DYNAMIC_ALIGN = 16


@dataclass(frozen=True)
class SharedVariable:
    """A variable of one block. Those of no bytes stand for dynamic shared memory."""

    name: str
    bytes: int
    align: int


@dataclass(frozen=True)
class SharedLayout:
    """Offsets of variables in a block's shared memory; dynamic memory follows the static.

    `placed` are those that have bytes. Where several kernels share the layout, dynamic memory has
    no offset here: only each kernel knows it.
    """

    offsets: dict[str, int]
    static_bytes: int
    align: int
    placed: tuple[SharedVariable, ...] = ()


def shared_variables(module: DeviceModule) -> dict[str, SharedVariable]:
    """Returns the module's shared variables by name."""
    found: dict[str, SharedVariable] = {}
    for name, text in module.variables.items():
        if match := _SHARED.search(text):
            rest = text[match.end() :]
            size, natural = size_and_alignment(rest[: type_end(rest)])
            align = re.search(r", align (\d+)", rest)
            found[name] = SharedVariable(name, size, int(align[1]) if align else natural)
    return found


def used_by_functions(module: DeviceModule, variables: dict[str, SharedVariable]) -> list[str]:
    """Returns the names of the shared variables that functions other than kernels use."""
    others = [each for each in module.functions.values() if not each.is_kernel]
    return list(dict.fromkeys(name for each in others for name in _used(each, variables)))


def layout_for(
    kernel: Function | None,
    module: DeviceModule,
    variables: dict[str, SharedVariable],
    *,
    gap: int = 0,
    common: Sequence[str] | None = None,
) -> SharedLayout:
    """Lays out what `kernel` uses; before it what other functions use, alike for every kernel.

    That is `common`, where it is known. With a `gap`, between two variables are at least that many
    bytes that belong to none; they lie at the same remainders of the largest alignment as without.
    """
    if common is None:
        common = used_by_functions(module, variables)
    own = _used(kernel, variables) if kernel is not None else []
    offsets: dict[str, int] = {}
    size, largest = 0, 1
    used = [variables[name] for name in dict.fromkeys([*common, *own])]
    dynamic = [variable for variable in used if variable.bytes == 0]
    gap = max(gap, *(variable.align for variable in used)) if gap and used else 0
    placed: list[SharedVariable] = []
    for variable in used:
        name = variable.name
        largest = max(largest, variable.align)
        if variable.bytes:
            size = _aligned(size, variable.align) + (gap if placed else 0)
            offsets[name] = size
            size += variable.bytes
            placed.append(variable)
    if dynamic:
        align = max(_DYNAMIC_ALIGN, *(variable.align for variable in dynamic))
        size = _aligned(size, align) + (gap if placed else 0)
        largest = max(largest, align)
    if kernel is not None:
        offsets.update(dict.fromkeys((variable.name for variable in dynamic), size))
    return SharedLayout(offsets, size, largest, tuple(placed))


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _used(function: Function, variables: dict[str, SharedVariable]) -> list[str]:
    names = (name for item in function.instructions() for name in GLOBAL.findall(item.text))
    return [name for name in dict.fromkeys(names) if name in variables]
