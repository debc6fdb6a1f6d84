"""How the CPU device computes what PTX's special registers hold.

Most are fields of the running block or follow from the thread's number in it; those that take more
than that are functions of the device library (see intrinsics.py).
"""

from __future__ import annotations

from enum import Enum

from ...dialects.records import dataclass

_WARPS_OF_A_MULTIPROCESSOR = 64  # compute capability 9.0: 2048 threads


class Source(Enum):
    """Where a register's value comes from."""

    FIELD = "an i32 field of the block"
    THREAD_X = "the thread's x index in the block"
    THREAD_Y = "the thread's y index in the block"
    THREAD_Z = "the thread's z index in the block"
    LANE = "thread % 32"
    WARP = "thread / 32"
    LANES_EQUAL = "1 << lane"
    LANES_BELOW = "(1 << lane) - 1"
    LANES_UP_TO = "(2 << lane) - 1"
    LANES_FROM = "-1 << lane"
    LANES_ABOVE = "-2 << lane"
    CONSTANT = "a number"


@dataclass(frozen=True)
class Register:
    """A special register of type i32.

    `value` is the byte offset in `hirc_block` (device_abi.h) of a FIELD, and the number of a
    CONSTANT.
    """

    source: Source
    value: int = 0


def _extent(name: str, offset: int) -> dict[str, Register]:
    """Returns the registers of a `hirc_extent`; the fourth element of a PTX vector is zero."""
    fields = {
        f"{name}.{axis}": Register(Source.FIELD, offset + 4 * place)
        for place, axis in enumerate("xyz")
    }
    return {**fields, f"{name}.w": Register(Source.CONSTANT)}


# AMD's, by the names after `llvm.amdgcn.`.
AMD_REGISTERS: dict[str, Register] = {
    "workitem.id.x": Register(Source.THREAD_X),
    "workitem.id.y": Register(Source.THREAD_Y),
    "workitem.id.z": Register(Source.THREAD_Z),
    "workgroup.id.x": Register(Source.FIELD, 0),
    "workgroup.id.y": Register(Source.FIELD, 4),
    "workgroup.id.z": Register(Source.FIELD, 8),
}

REGISTERS: dict[str, Register] = {
    "tid.x": Register(Source.THREAD_X),
    "tid.y": Register(Source.THREAD_Y),
    "tid.z": Register(Source.THREAD_Z),
    "tid.w": Register(Source.CONSTANT),
    **_extent("ctaid", 0),
    **_extent("nctaid", 12),
    **_extent("ntid", 24),
    **_extent("clusterid", 36),
    **_extent("nclusterid", 48),
    **_extent("cluster.ctaid", 60),
    **_extent("cluster.nctaid", 72),
    "cluster.ctarank": Register(Source.FIELD, 84),
    "cluster.nctarank": Register(Source.FIELD, 88),
    "dynamic_smem_size": Register(Source.FIELD, 92),
    "gridid": Register(Source.FIELD, 136),  # the lower half of 64 bits
    "laneid": Register(Source.LANE),
    "warpid": Register(Source.WARP),
    "lanemask.eq": Register(Source.LANES_EQUAL),
    "lanemask.lt": Register(Source.LANES_BELOW),
    "lanemask.le": Register(Source.LANES_UP_TO),
    "lanemask.ge": Register(Source.LANES_FROM),
    "lanemask.gt": Register(Source.LANES_ABOVE),
    "warpsize": Register(Source.CONSTANT, 32),
    "nwarpid": Register(Source.CONSTANT, _WARPS_OF_A_MULTIPROCESSOR),
    # One multiprocessor, as far as a kernel can tell.
    "smid": Register(Source.CONSTANT, 0),
    "nsmid": Register(Source.CONSTANT, 1),
    **{f"envreg{number}": Register(Source.CONSTANT) for number in range(32)},
    **{f"pm{number}": Register(Source.CONSTANT) for number in range(4)},
}
