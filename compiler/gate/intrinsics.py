"""Intrinsics that the consumer does not know, which it takes for functions to be linked."""

from __future__ import annotations

import llvmlite.binding as llvm

_UNKNOWN = "; Unknown intrinsic"


def unknown_intrinsics(module: llvm.ModuleRef) -> list[str]:
    """Returns the `llvm.*` functions of a parsed module that llvmlite's LLVM does not know, sorted.

    Such a call would survive as a reference to an undefined symbol until the final link. The
    attributes of a declaration tell nothing, as the producer prints them too; but LLVM's printer
    says of a declaration that it is of no intrinsic it knows.
    """
    return sorted(
        function.name
        for function in module.functions
        if function.name.startswith("llvm.") and _UNKNOWN in str(function)
    )
