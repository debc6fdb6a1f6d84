"""Operations of several threads and asynchronous copies: what the CPU device does for each.

One family a file; `operation` asks them in turn. The C side is runtime/operations.
"""

from __future__ import annotations

from . import barriers, copies, matrices, mbarriers, tensor_copies, warps, wavefronts
from .model import Constant, Operation, StopKind

__all__ = ["Constant", "Operation", "StopKind", "operation"]

_AMD_PREFIX = "llvm.amdgcn."
_FAMILIES = (warps, barriers, matrices, mbarriers, copies, tensor_copies)
# Inline PTX is translated to calls of intrinsics under the name hirc.nvvm.…, and of functions named
# hirc.ptx.… where there is no intrinsic for an instruction.
_PREFIXES = ("llvm.nvvm.", "hirc.nvvm.", "hirc.ptx.")


def operation(callee: str) -> Operation | None:
    """Returns what a call of the intrinsic `callee` means, or None where it is of none of these
    families.

    Raises UnsupportedError for an operation of these families that the CPU device cannot do.
    """
    if callee.startswith(_AMD_PREFIX):
        return wavefronts.lookup(callee.removeprefix(_AMD_PREFIX))
    for prefix in _PREFIXES:
        if callee.startswith(prefix):
            name = callee.removeprefix(prefix)
            for family in _FAMILIES:
                if (found := family.lookup(name)) is not None:
                    return found
    return None
