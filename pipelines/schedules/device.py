"""What schedules must know of a chip, as data: choices derive from these numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...dialects.records import dataclass
from .tables import Tables


@dataclass(frozen=True)
class Device:
    """One kind of chip.

    `capability` is the compute capability as one number. `multiprocessors`, `bandwidth` (bytes a
    second) and `cache_bytes` (the second-level cache) are those of the product that the capability
    is best known for; a schedule that is right for them is right on any. Per multiprocessor:
    `shared_bytes` that one block can be given (opted in, less the 1 KB the system keeps),
    `registers` of 32 bits and `threads`. `cluster_blocks` is
    how many blocks a cluster may have without asking for more, 1 where there are no clusters.
    `products` are the operations a second that data sheets have for dense products of 16 bits,
    `links` the bytes a second that a device sends to others of its host at most, 0 without others.
    With `has_warpgroup_products` it is built for a chip that has wgmma: an `a` variant of Hopper.
    `lanes` are the threads of a warp, or a wavefront. AMD's chips have capability 0, below every
    one that an instruction needs.
    `tables` are what was measured.
    """

    capability: int
    multiprocessors: int
    shared_bytes: int
    registers: int
    threads: int
    cluster_blocks: int
    cache_bytes: int
    bandwidth: float
    products: float
    links: float = 0.0
    has_warpgroup_products: bool = False
    lanes: int = 32
    tables: Tables = Tables()

    @property
    def is_amd(self) -> bool:
        """Whether it is one of AMD's chips."""
        return self.capability == 0

    @property
    def bytes_in_flight(self) -> int:
        """What a multiprocessor must have under way to keep the memory busy.

        Little's law with a loaded latency of 1 us.
        """
        return int(self.bandwidth * 1e-6 / self.multiprocessors)


_KB, _MB, _GB, _TERA = 1024, 1024**2, 1e9, 1e12

# CUDA C++ Programming Guide, "Compute Capabilities", and the products' data sheets: T4, A100 80 GB,
# A40, Jetson AGX Orin, L40, H200, B200, B300, Jetson AGX Thor, RTX PRO 6000, DGX Spark.
_DEVICES = {
    device.capability: device
    for device in (
        Device(75, 40, 64 * _KB, 65536, 1024, 1, 4 * _MB, 320 * _GB, 65 * _TERA, 16 * _GB),
        Device(80, 108, 163 * _KB, 65536, 2048, 1, 40 * _MB, 2039 * _GB, 312 * _TERA, 300 * _GB),
        Device(86, 84, 99 * _KB, 65536, 1536, 1, 6 * _MB, 696 * _GB, 149.7 * _TERA, 56 * _GB),
        Device(87, 16, 163 * _KB, 65536, 1536, 1, 4 * _MB, 204 * _GB, 42.5 * _TERA),
        Device(88, 16, 99 * _KB, 65536, 1536, 1, 4 * _MB, 204 * _GB, 42.5 * _TERA),
        Device(89, 142, 99 * _KB, 65536, 1536, 1, 96 * _MB, 864 * _GB, 181 * _TERA, 32 * _GB),
        Device(90, 132, 227 * _KB, 65536, 2048, 8, 50 * _MB, 4800 * _GB, 989 * _TERA, 450 * _GB),
        Device(100, 148, 227 * _KB, 65536, 2048, 8, 126 * _MB, 8000 * _GB, 2250 * _TERA, 900 * _GB),
        Device(103, 148, 227 * _KB, 65536, 2048, 8, 126 * _MB, 8000 * _GB, 2250 * _TERA, 900 * _GB),
        Device(110, 20, 227 * _KB, 65536, 2048, 8, 32 * _MB, 273 * _GB, 259 * _TERA),
        Device(120, 188, 99 * _KB, 65536, 1536, 8, 128 * _MB, 1792 * _GB, 504 * _TERA, 64 * _GB),
        Device(121, 48, 99 * _KB, 65536, 1536, 8, 24 * _MB, 273 * _GB, 125 * _TERA, 25 * _GB),
    )
}
# AMD's "CDNA 2", "CDNA 3" and "RDNA 3" instruction set architectures, and the data sheets of the
# MI250X (one of its two dies), the MI300X and the RX 7900 XTX.
AMD_DEVICES = {
    "gfx90a": Device(
        0, 110, 64 * _KB, 131072, 2048, 1, 8 * _MB, 1638 * _GB, 191.5 * _TERA, lanes=64
    ),
    "gfx942": Device(
        0, 304, 64 * _KB, 131072, 2048, 1, 32 * _MB, 5300 * _GB, 1307 * _TERA, lanes=64
    ),
    "gfx1100": Device(0, 96, 64 * _KB, 98304, 1024, 1, 6 * _MB, 960 * _GB, 122.8 * _TERA),
}
# Where no chip is named: what every build's code is made for until its chips are known.
_DEFAULT = 90
_WARPGROUP_CHIPS = ("sm_90a",)


def device_of(chips: Sequence[str]) -> Device:
    """The device of a build for these chips (`sm_90a`); of several, one with the least of each."""
    found = [_device(chip) for chip in chips] or [_DEVICES[_DEFAULT]]
    first = min(found, key=lambda device: device.capability)
    return Device(
        first.capability,
        first.multiprocessors,
        min(device.shared_bytes for device in found),
        min(device.registers for device in found),
        min(device.threads for device in found),
        min(device.cluster_blocks for device in found),
        min(device.cache_bytes for device in found),
        first.bandwidth,
        first.products,
        first.links,
        bool(chips) and all(chip in _WARPGROUP_CHIPS for chip in chips),
        first.lanes,
        first.tables,
    )


# The first chips that copy to shared memory asynchronously (PTX ISA, "cp.async"), as the kernels of
# contractions do.
TILES_CAPABILITY = 80


def device_of_option(chips: str) -> Device:
    """Returns the device of the chips that an option of a pass names, joined by `+`."""
    return device_of([chip for chip in chips.split("+") if chip])


def shared_bytes_of(chip: str) -> int:
    """Bytes of shared memory that one block can be given."""
    return _device(chip).shared_bytes


def lanes_of(chips: Sequence[str]) -> int:
    """The threads of a warp or a wavefront, which these chips have in common."""
    return device_of(chips).lanes


def _device(chip: str) -> Device:
    if chip in AMD_DEVICES:
        return AMD_DEVICES[chip]
    return _DEVICES[int(re.sub(r"\D", "", chip))]
