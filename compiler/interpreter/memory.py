"""Memory at run time: allocations, their owners, what of them was written, and the counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from .torch_import import torch


class Owner(StrEnum):
    """Whose memory it is."""

    PROGRAM = "the program"
    INPUT = "an input"
    GIVEN = "an output that was handed in"
    CONSTANT = "a constant"


@dataclass(frozen=True)
class Counts:
    """Bytes that programs hold now and held at most, and how often memory was taken and freed."""

    live_bytes: int = 0
    peak_bytes: int = 0
    allocations: int = 0
    deallocations: int = 0


@dataclass(eq=False)
class Allocation:
    """One stretch of memory.

    `memory` is its bytes; None for the caller's memory. `written` has a truth for each byte,
    the first of each element saying whether it was written; None where all of it was. `address`
    is where the bytes begin. `ended` says how its life ended, empty while it lives. `shared` is
    what the devices of a team have of it (operations/peer_memory.py).
    """

    name: str
    owner: Owner
    bytes: int
    address: int
    memory: torch.Tensor | None = None
    written: torch.Tensor | None = None
    kind: str = "device"
    site: object = None
    ended: str = ""
    shared: object = None


@dataclass
class Memory:
    """What the programs of one interpretation allocated."""

    allocations: list[Allocation] = field(default_factory=list[Allocation])
    live_bytes: int = 0
    peak_bytes: int = 0
    allocated: int = 0
    deallocated: int = 0

    @property
    def counts(self) -> Counts:
        return Counts(self.live_bytes, self.peak_bytes, self.allocated, self.deallocated)

    def allocate(
        self, size: int, name: str, kind: str, device: torch.device, site: object
    ) -> Allocation:
        """Fresh memory of `size` bytes, which nothing was written to."""
        on_host = device.type == "cuda" and kind == "pinned"
        memory = torch.empty(
            size, dtype=torch.uint8, device="cpu" if on_host else device, pin_memory=on_host
        )
        written = torch.zeros(size, dtype=torch.bool)
        allocation = Allocation(
            name, Owner.PROGRAM, size, memory.data_ptr(), memory, written, kind, site
        )
        self.allocations.append(allocation)
        self.allocated += 1
        self.live_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        return allocation

    def reuse(self, storage: Allocation, name: str, site: object, place: str) -> Allocation:
        """Returns the memory of `storage` as memory that nothing was written to; its life ends."""
        allocation = Allocation(
            name,
            storage.owner,
            storage.bytes,
            storage.address,
            storage.memory,
            torch.zeros(storage.bytes, dtype=torch.bool),
            storage.kind,
            site,
        )
        storage.ended = f"its memory was reused at {place}"
        self.allocations.append(allocation)
        return allocation

    def free(self, allocation: Allocation, place: str) -> None:
        """Ends an allocation's life. A GPU's memory stays until the end: streams may lag behind."""
        allocation.ended = f"it was freed at {place}"
        self.deallocated += 1
        self.live_bytes -= allocation.bytes
        allocation.written = None
        if allocation.memory is not None and not allocation.memory.is_cuda:
            allocation.memory = None


def strided(
    flat: torch.Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int
) -> torch.Tensor:
    """Returns a view of a tensor of one dim."""
    return flat.as_strided(tuple(sizes), tuple(strides), flat.storage_offset() + offset)
