"""A compiled program as data: what the in-process loader, the cache and the linker take."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from ..dialects.records import dataclass
from .device_containers import DeviceCode
from .target import Devices

# Sections whose ends a linker names, of pointers to what is to be found there: programs, and the
# CPU device's kernels and variables.
LISTED, KERNELS, VARIABLES = "hirc_listed", "hirc_cpu_kernels", "hirc_cpu_variables"

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Entry:
    """A device symbol and the host's symbol for it; a kernel has no bytes."""

    device_name: str
    host: str
    bytes: int
    is_constant: bool


@dataclass(frozen=True)
class Code:
    """Host code and device code of a program, compiled and not linked.

    `objects` are object files of the host's code, and of what the CPU device runs. In them symbols
    that the loader needs are visible: those of `entries`, and of what is in the sections that the
    linker collects, by section. `runtime` is the name that the cache has for the library that it
    calls, `devices` what it runs on. `weights` is the symbol under which it looks for the values of
    its weights, "" where they are elsewhere; `weight_places` are their offsets there, and their
    names.
    """

    objects: tuple[bytes, ...]
    devices: Devices
    entries: tuple[Entry, ...] = ()
    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    images: tuple[DeviceCode, ...] = ()
    weights: str = ""
    weight_bytes: int = 0
    weight_places: tuple[tuple[int, str], ...] = ()
    runtime: str = ""

    @property
    def is_for_cpu(self) -> bool:
        """Whether it runs on the CPU device."""
        return self.devices == Devices.CPU

    def pack(self) -> bytes:
        """Returns the code as bytes."""
        described: dict[str, Any] = {
            "devices": self.devices.value,
            "objects": [len(each) for each in self.objects],
            "entries": [asdict(entry) for entry in self.entries],
            "sections": dict(self.sections),
            "images": [[each.arch, each.is_ptx, len(each.data)] for each in self.images],
            "weights": [self.weights, self.weight_bytes, self.weight_places],
            "runtime": self.runtime,
        }
        text = json.dumps(described).encode()
        data = [*self.objects, *(each.data for each in self.images)]
        return b"".join([_LENGTH.pack(len(text)), text, *data])

    @classmethod
    def unpack(cls, packed: bytes) -> Code:
        """Returns the code that was packed. Raises ValueError for anything else."""
        try:
            return cls._unpacked(packed)
        except (struct.error, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"no compiled code: {error}") from error

    @classmethod
    def _unpacked(cls, packed: bytes) -> Code:
        (length,) = _LENGTH.unpack_from(packed)
        at = _LENGTH.size + length
        described = json.loads(packed[_LENGTH.size : at])
        objects: list[bytes] = []
        for length in described["objects"]:
            objects.append(packed[at : at + length])
            at += length
        images: list[DeviceCode] = []
        for arch, is_ptx, length in described["images"]:
            images.append(DeviceCode(arch, packed[at : at + length], is_ptx))
            at += length
        if at != len(packed):
            raise ValueError("no compiled code: it is of another length")
        weights, weight_bytes, places = described["weights"]
        return cls(
            objects=tuple(objects),
            devices=Devices(described["devices"]),
            entries=tuple(Entry(**entry) for entry in described["entries"]),
            sections={name: tuple(names) for name, names in described["sections"].items()},
            images=tuple(images),
            weights=weights,
            weight_bytes=weight_bytes,
            weight_places=tuple((offset, name) for offset, name in places),
            runtime=described["runtime"],
        )
