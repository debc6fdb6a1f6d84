"""A part of hirc-opt's input on its way through the passes."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..compiler import activity
from ..compiler.diagnostics import parse_error
from ..compiler.errors import HircError, InputError
from ..compiler.odd_names import decoded, refuse_odd_names, refuse_odd_text
from ..compiler.parse import can_be_read_again, damaged_bytecode, in_file, reading
from ..compiler.rendering import printable
from ..compiler.session import Session
from ..compiler.source import Source, is_bytecode
from ..compiler.stages import IrPrinter
from ..compiler.unreadable_line import BAD_ALLOCATION, out_of_memory
from ..compiler.unverified import refuse_unverified
from ..dialects.mlir import ir, load_named_dialects
from ..pipelines.pass_base import InvalidResult, PassFailure, find_pass, make_pass, pass_names
from ..pipelines.pipeline import PipelineSyntaxError, Step, parse_pipeline, run_steps
from .hirc_opt_arguments import OptRequest
from .verify_diagnostics import expectations, messages_of, problems

SPLIT_MARKER = "// -----"


@dataclass(frozen=True)
class Chunk:
    """A part of the input that is a module of its own; its text keeps the file's line numbers."""

    file: str
    data: bytes
    is_whole: bool = False

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")


def chunks(source: Source, request: OptRequest) -> Iterator[Chunk]:
    """Yields the parts between `// -----` lines, each with an empty line for every
    line before it.
    """
    if not request.split_input or source.text is None:
        yield Chunk(source.name, source.data, is_whole=True)
        return
    part: list[bytes] = []
    for number, line in enumerate(source.data.splitlines(keepends=True), start=1):
        if line.startswith(SPLIT_MARKER.encode()):
            yield Chunk(source.name, b"".join(part))
            part = [b"\n"] * number
        else:
            part.append(line)
    yield Chunk(source.name, b"".join(part))


def take(chunk: Chunk, request: OptRequest) -> tuple[bytes | None, list[HircError]]:
    """Runs the pipeline on a chunk: its output, or None, and what is wrong with it."""
    session = Session()
    session.context.allow_unregistered_dialects = request.allow_unregistered
    output = _transformed(chunk, request, session)
    found = [in_file(item, chunk.file) for item in session.take_diagnostics()]
    if request.verify_diagnostics:
        expected = expectations(chunk.text, chunk.file)
        return output, [*problems(expected, messages_of(found, chunk.file), chunk.file)]
    errors: list[HircError] = [
        InputError(item.message, item.position, notes=item.notes)
        for item in found
        if item.severity == "error"
    ]
    for item in found:
        if item.severity != "error":
            text = f"{item.position or 'hirc'}: {item.severity}: {item.message}"
            print(printable(text), file=sys.stderr)
    if output is None and not errors:
        errors.append(InputError(f"a pass of '{request.pipeline}' failed and said nothing"))
    return output, errors


def _transformed(chunk: Chunk, request: OptRequest, session: Session) -> bytes | None:
    """Returns the chunk after the pipeline as the request wants it printed; None
    where that failed.
    """
    activity.enter("pipeline", "MLIR's reader of pipelines", input="the command line")
    try:
        steps = parse_pipeline(request.pipeline, session.context)
    except PipelineSyntaxError as error:
        raise InputError(str(error), hint="hirc-opt --list-passes lists hirc's own") from error
    session.take_diagnostics()
    text = None if is_bytecode(chunk.data) else decoded(chunk.file, chunk.data)
    try:
        with reading(chunk.data):
            module = _parsed(chunk, session.context)
    except (ir.MLIRError, RuntimeError, ValueError) as error:
        if text is None and not session.diagnostics:
            raise damaged_bytecode(chunk.file) from error
        if not isinstance(error, ir.MLIRError):
            refuse_odd_text(chunk.file, text or "", error)
            raise
        if not session.diagnostics:
            raise parse_error([], chunk.file, chunk.text) from error
        return None
    refuse_odd_names(module, chunk.file, text)
    refuse_unverified(module, text)
    printer = IrPrinter(request.print_ir_after)
    printer.begin(steps, module)

    def before(step: Step) -> None:
        activity.enter("passes", f"pass '{step.pass_name}'", input=_upstream([step]))

    def print_after(step: Step) -> None:
        printer(step, module)

    try:
        run_steps(module, steps, before=before, after=print_after)
    except PassFailure:
        return None
    except InvalidResult as failure:
        # A bug in hirc, or a pass that ran without those it stands on: the tool is for trying that.
        module.location.emit_error(f"pass '{failure}' left IR that the verifier refuses")
        return None
    activity.enter("print", "MLIR's printer", input=_upstream(steps))
    if request.bytecode:
        buffer = io.BytesIO()
        module.write_bytecode(buffer)
        return buffer.getvalue()
    text = module.get_asm(
        enable_debug_info=request.debug_info,
        print_generic_op_form=request.generic_form,
        assume_verified=True,
    )
    return f"{str(text).rstrip()}\n".encode()


def _upstream(steps: Sequence[Step]) -> str | None:
    """Returns what is at fault where steps crash: the program, if all are upstream's."""
    return None if any(step.own is not None for step in steps) else "the program"


def _parsed(chunk: Chunk, context: ir.Context) -> ir.Operation:
    """Returns the chunk's module. A whole file is read by MLIR, so that locations name the file."""
    load_named_dialects(chunk.data, context)
    try:
        if chunk.is_whole and can_be_read_again(chunk.file):
            return ir.Module.parseFile(chunk.file, context).operation
        return ir.Module.parse(chunk.data, context).operation
    except MemoryError as error:
        if BAD_ALLOCATION not in str(error):
            raise
        raise out_of_memory(chunk.file, chunk.data) from error


def pass_list() -> Iterator[str]:
    """hirc's own passes as a pipeline takes them, options at their defaults, and what they do."""
    for name in pass_names():
        cls = find_pass(name)
        assert cls is not None
        yield f"{make_pass(name, {})}\n    {(cls.__doc__ or '').strip().splitlines()[0]}"
