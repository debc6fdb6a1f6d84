"""Intrinsics that the consumer does not know, which it takes for functions to be linked."""

from __future__ import annotations

import llvmlite.binding as llvm

_UNKNOWN = "; Unknown intrinsic"


def unknown_intrinsics(module: llvm.ModuleRef) -> list[str]:
    """The `llvm.*` functions of a parsed module that llvmlite's LLVM does not know, sorted.

    Such a call would survive as a reference to an undefined symbol until the final link. What LLVM
    knows gets its attributes on parsing, `nounwind` among them for all but a few; of the rest, the
    printer says which it does not know.
    """
    names: list[str] = []
    for function in module.functions:
        if not function.name.startswith("llvm."):
            continue
        if any(b"nounwind" in attribute for attribute in function.attributes):
            continue
        if _UNKNOWN in str(function):
            names.append(function.name)
    return sorted(names)
