"""The LLVM that prints what the gate reads: its own parser and printer, for the gate's tests.

It is the C interface inside the library of MLIR's bindings. A text of either version, parsed and
printed by it, comes out in one spelling; two texts with the same result mean the same.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

from hirc.dialects.mlir import bindings


class ParseError(Exception):
    """The producer's LLVM does not take the text."""


def printed(text: str) -> str:
    """The text as the producer's LLVM prints it. Raises ParseError."""
    library = _library()
    data = text.encode()
    context = library.LLVMContextCreate()
    buffer = library.LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"")
    module = ctypes.c_void_p()
    message = ctypes.c_char_p()
    try:
        # The parser owns the buffer, whether it succeeds or not.
        if library.LLVMParseIRInContext(
            context, buffer, ctypes.byref(module), ctypes.byref(message)
        ):
            raise ParseError((message.value or b"").decode())
        output = library.LLVMPrintModuleToString(module)
        try:
            return ctypes.string_at(output).decode()
        finally:
            library.LLVMDisposeMessage(output)
            library.LLVMDisposeModule(module)
    finally:
        library.LLVMContextDispose(context)


def meaning(text: str) -> list[str]:
    """The lines of `printed(text)` without comments and the module's name."""
    return [
        line
        for line in printed(text).splitlines()
        if line and not line.startswith((";", "source_filename = "))
    ]


@lru_cache(maxsize=1)
def _library() -> ctypes.PyDLL:
    library = ctypes.PyDLL(bindings.__file__)
    pointer = ctypes.c_void_p
    for name, result, arguments in (
        ("LLVMContextCreate", pointer, []),
        ("LLVMContextDispose", None, [pointer]),
        (
            "LLVMCreateMemoryBufferWithMemoryRangeCopy",
            pointer,
            [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p],
        ),
        ("LLVMDisposeMessage", None, [pointer]),
        ("LLVMDisposeModule", None, [pointer]),
        (
            "LLVMParseIRInContext",
            ctypes.c_int,
            [pointer, pointer, ctypes.POINTER(pointer), ctypes.POINTER(ctypes.c_char_p)],
        ),
        ("LLVMPrintModuleToString", pointer, [pointer]),
    ):
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library
