"""What the lanes of an AMD wavefront do together, and barriers of their block."""

from __future__ import annotations

import re

from .model import Operation, StopKind, constant

_FIRST_LANE = re.compile(r"readfirstlane(\.i32|\.i64|\.f32|\.f64)?")
_LANE = re.compile(r"readlane(\.i32|\.i64|\.f32|\.f64)?")
_BALLOT = re.compile(r"ballot\.i(32|64)")


def lookup(name: str) -> Operation | None:
    """Returns an operation of this family by its name without `llvm.amdgcn.`."""
    if name == "s.barrier":
        return Operation("s_barrier", StopKind.BARRIER, "", (1,), (constant(0), constant(0)))
    if name == "ds.bpermute":
        return Operation("ds_bpermute_b32", StopKind.CONVERGED, "hirc_perform_bpermute")
    if _FIRST_LANE.fullmatch(name):
        return Operation("v_readfirstlane_b32", StopKind.CONVERGED, "hirc_perform_first_lane")
    if _LANE.fullmatch(name):
        return Operation("v_readlane_b32", StopKind.CONVERGED, "hirc_perform_read_lane")
    if _BALLOT.fullmatch(name):
        return Operation("ballot", StopKind.CONVERGED, "hirc_perform_ballot")
    return None
