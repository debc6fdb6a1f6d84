"""MLIR's LLVM dialect to LLVM assembly that the consumer can read.

The bindings' own `translate_module_to_llvmir` dereferences null when translation fails, and the
process dies. MLIR's C interface returns null instead, so that is what is called here, through
ctypes, in the library that the bindings have loaded.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import cast

from ..dialects.mlir import address_of, bindings, ir
from ..dialects.records import dataclass
from . import activity
from .errors import Note
from .gate import to_consumer
from .session import Diagnostic, position_of

# Translation passes over these without a word, and what is in them would be missing.
_IGNORED_BY_TRANSLATION = ("builtin.module", "gpu.module")
_DATA_LAYOUT = "llvm.data_layout"
_TARGET_LINE = re.compile(r"^target (?:datalayout|triple) = .*\n", re.MULTILINE)
_SYMBOL = re.compile(r"@([\w.$-]+)")


@dataclass(frozen=True)
class TranslationDiagnostic(Diagnostic):
    """A diagnostic with its MLIR location as text, call sites and all."""

    location: str = ""


@dataclass
class TranslationError(Exception):
    """MLIR could not translate the module; `diagnostics` say why, errors first to last."""

    diagnostics: list[TranslationDiagnostic]

    def __str__(self) -> str:
        lines = [
            f"{item.location or 'LLVM'}: {item.severity}: {item.message}"
            for item in self.diagnostics
        ]
        return "\n".join(lines) or "translation to LLVM IR failed without a diagnostic"


def to_llvm_ir(op: ir.Operation, *, consumer: int = 22, data_layout: str | None = None) -> str:
    """Returns the LLVM assembly of a builtin.module of LLVM-dialect ops, readable to LLVM
    `consumer`.

    `data_layout` is that of the target the code is for. Loads, stores and stack slots without an
    alignment get theirs from it; LLVM's own default, taken without one, aligns i64 to 4 bytes.
    The result names no triple and no data layout: set both after parsing. Raises TranslationError
    for a module that is not wholly LLVM dialect, and GateError for what the consumer lacks.
    """
    with _collected(op) as diagnostics:
        with _with_data_layout(op, data_layout):
            text = _translate(op, diagnostics) if _is_translatable(op, diagnostics) else None
        if text is None:
            raise TranslationError(diagnostics)
    return to_consumer(_TARGET_LINE.sub("", text), consumer=consumer)


@contextmanager
def _collected(op: ir.Operation) -> Generator[list[TranslationDiagnostic]]:
    """The list that fills with every diagnostic of the op's context meanwhile.

    Errors end here, as they become an exception; the others also reach the context's own handlers.
    """
    diagnostics: list[TranslationDiagnostic] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        diagnostics.append(
            TranslationDiagnostic(
                severity=diagnostic.severity.name.lower(),
                message=str(diagnostic.message),
                position=position_of(diagnostic.location),
                notes=tuple(
                    Note(str(note.message), position_of(note.location)) for note in diagnostic.notes
                ),
                location=_location_text(diagnostic.location),
            )
        )
        return diagnostic.severity == ir.DiagnosticSeverity.ERROR

    handler = cast(ir.DiagnosticHandler, op.context.attach_diagnostic_handler(collect))
    try:
        yield diagnostics
    finally:
        handler.detach()


@contextmanager
def _with_data_layout(op: ir.Operation, data_layout: str | None) -> Generator[None]:
    """Gives the module a data layout for the time of the translation."""
    if data_layout is None:
        yield
        return
    before = op.attributes.get(_DATA_LAYOUT, None)
    op.attributes[_DATA_LAYOUT] = ir.StringAttr.get(data_layout, op.context)
    try:
        yield
    finally:
        if before is None:
            del op.attributes[_DATA_LAYOUT]
        else:
            op.attributes[_DATA_LAYOUT] = before


def _is_translatable(op: ir.Operation, diagnostics: list[TranslationDiagnostic]) -> bool:
    """Verifies the module, and finds what translation would leave out."""
    try:
        op.verify()
    except ir.MLIRError as error:
        if not diagnostics:
            diagnostics.append(TranslationDiagnostic("error", str(error), None))
        return False
    for inner in op.regions[0].blocks[0].operations:
        if inner.operation.name in _IGNORED_BY_TRANSLATION:
            inner.location.emit_error(
                f"'{inner.operation.name}' inside the module would be left out of the LLVM IR"
            )
            return False
    return True


def _translate(op: ir.Operation, diagnostics: list[TranslationDiagnostic]) -> str | None:
    """LLVM's print of the translated module; None where translation failed."""
    library = _library()
    context = library.LLVMContextCreate()
    try:
        with _standard_error() as said:
            module = library.mlirTranslateModuleToLLVMIR(address_of(op), context)
        if module is None:
            diagnostics += [_verifier_error(text, op) for text in said]
            return None
        sys.stderr.writelines(said)
        message = library.LLVMPrintModuleToString(module)
        try:
            return ctypes.string_at(message).decode(errors="replace")
        finally:
            library.LLVMDisposeMessage(message)
            library.LLVMDisposeModule(module)
    finally:
        library.LLVMContextDispose(context)


@contextmanager
def _standard_error() -> Generator[list[str]]:
    """Catches what goes to the process's standard error, where LLVM's verifier writes.

    The list holds it, as one text, after the context; it is empty if there was none.
    """
    said: list[str] = []
    sys.stderr.flush()
    kept, words = os.dup(2), activity.last_words()
    os.dup2(words, 2)
    try:
        yield said
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        text = activity.read_text(words).strip()
        os.ftruncate(words, 0)
        os.lseek(words, 0, os.SEEK_SET)
        os.close(words)
        if text:
            said.append(text)


def _verifier_error(text: str, op: ir.Operation) -> TranslationDiagnostic:
    """LLVM's words as a diagnostic, at the first of the module's symbols that they name."""
    locations: dict[str, ir.Location] = {}
    for inner in op.regions[0].blocks[0].operations:
        symbol = inner.operation.attributes.get("sym_name", None)
        if isinstance(symbol, ir.StringAttr):
            locations[symbol.value] = inner.location
    named = [name for name in _SYMBOL.findall(text) if name in locations]
    location = locations[named[0]] if named else op.location
    return TranslationDiagnostic(
        "error", text, position_of(location), location=_location_text(location)
    )


@lru_cache(maxsize=1)
def _library() -> ctypes.PyDLL:
    """MLIR's and LLVM's C interface in the bindings' library; called with the GIL held."""
    library = ctypes.PyDLL(bindings.__file__)
    pointer = ctypes.c_void_p
    for name, result, arguments in (
        ("LLVMContextCreate", pointer, []),
        ("LLVMContextDispose", None, [pointer]),
        ("LLVMDisposeMessage", None, [pointer]),
        ("LLVMDisposeModule", None, [pointer]),
        ("LLVMPrintModuleToString", pointer, [pointer]),
        ("mlirTranslateModuleToLLVMIR", pointer, [pointer, pointer]),
    ):
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def _location_text(location: ir.Location) -> str:
    """`a.mlir:3:4` for a file location, MLIR's own form for the others."""
    position = position_of(location) if isinstance(location, ir.FileLineColLoc) else None
    return str(position) if position is not None else str(location)
