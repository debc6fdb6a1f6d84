"""Which device the objects and archives that go to the link have code for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .errors import InputError

_SUFFIXES = (".o", ".a")
# Names of sections (cpu_device/kernel_table.py, offload_annotations.py).
_FOR_CPU, _FOR_GPU = b"hirc_cpu_kernels", b".llvm.offloading"


def linked_for_cpu(names: Sequence[str], asked: bool | None) -> bool | None:
    """Whether objects were built for the CPU device; None where none has kernels.

    `asked` is what the command line says. Raises InputError where they differ from that, or among
    themselves.
    """
    found: dict[bool, str] = {}
    for name in filter(_is_read, names):
        for for_cpu in _devices(name):
            found.setdefault(for_cpu, name)
    if asked is not None and (other := found.get(not asked)) is not None:
        built, wanted = _names(not asked), _names(asked)
        raise InputError(
            f"{other} was built for {built}, and the program is for {wanted}",
            hint=f"build it again for {wanted}",
        )
    if len(found) > 1:
        raise InputError(f"{found[True]} was built for the CPU device, and {found[False]} for GPUs")
    return next(iter(found), None)


def may_have_kernels(names: Sequence[str]) -> bool:
    """Whether what is linked may have device code: what the linker finds itself may."""
    return any(not _is_read(name) or _devices(name) for name in names)


def _is_read(name: str) -> bool:
    return name.endswith(_SUFFIXES) and not name.startswith("-")


def _devices(name: str) -> list[bool]:
    """Of which devices an object or archive has code: of the CPU device, and of GPUs."""
    data = Path(name).read_bytes()
    return [for_cpu for for_cpu, mark in ((True, _FOR_CPU), (False, _FOR_GPU)) if mark in data]


def _names(for_cpu: bool) -> str:
    return "the CPU device" if for_cpu else "GPUs"
