"""How device functions are declared on the host."""

from __future__ import annotations

import re

from .address_spaces import without_address_spaces
from .block_layout import CONTEXT_PARAMETERS
from .device_ir import DeviceModule, Function, Parameter
from .llvm_text import size_and_alignment, without_attributes

_LINKAGE = re.compile(
    r"(?:private|internal|available_externally|linkonce|weak|linkonce_odr|weak_odr|external|"
    r"dso_local|hidden|protected|fastcc|ccc|coldcc|ptx_device|ptx_kernel|amdgpu_kernel|unnamed_addr|"
    r"local_unnamed_addr|externally_initialized|common)\s+"
)
_VECTOR = re.compile(r"<\d+ x \w+>")
_LEAST_VECTOR_BYTES = 16


def signature(function: Function) -> str:
    """Result, name and parameters of a device function, its context among them."""
    header = function.header
    while match := _LINKAGE.match(header + " "):
        header = header[match.end() :]
    result = without_address_spaces(without_attributes(header))
    parameters = "".join(
        f", {item.type}{_copied(item)} {item.name}" for item in function.parameters
    )
    return f"{result} {function.name}({CONTEXT_PARAMETERS}{parameters})"


def passes_wide_vectors(module: DeviceModule) -> bool:
    """Returns whether functions take or give vectors that the host's processors pass in different
    ways.

    Kernels for the processor with wider vectors could not call them.
    """
    return any(
        size_and_alignment(vector)[0] > _LEAST_VECTOR_BYTES
        for function in module.functions.values()
        for type_text in (function.header, *(item.type for item in function.parameters))
        for vector in _VECTOR.findall(without_address_spaces(type_text))
        if not function.is_kernel
    )


def _copied(parameter: Parameter) -> str:
    """Returns the attribute of a function's own copy of what its caller has."""
    if not parameter.byval:
        return ""
    return f" byval({parameter.byval}){f' align {parameter.align}' if parameter.align else ''}"
