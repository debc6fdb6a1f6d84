"""Inline PTX as LLVM IR: each template becomes a function of its operands, to be inlined.

    call void asm sideeffect "@$2 mbarrier.init.shared.b64 [$0], $1;", "r,r,b"(...)

is replaced by a call of a function in which instructions are LLVM's where there are such, and calls
of intrinsics where other threads take part, under the name `hirc.nvvm.…`: those are to be lowered
as `llvm.nvvm.…` is. Where there is no intrinsic the call is of a function `hirc.ptx.…`, which
`operations` knows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.records import dataclass
from ...errors import UnsupportedError
from . import arithmetic, carries, control, conversions, copies, floating, matrices, memory, threads
from .syntax import Label, PtxInstruction, Register, Statement, parse_ptx
from .waits import with_waits
from .writer import TYPES, Writer

__all__ = ["PtxFunction", "PtxOperation", "inline_ptx"]

_TABLES = tuple(
    module.HANDLERS
    for module in (
        control,
        carries,
        arithmetic,
        floating,
        conversions,
        memory,
        threads,
        copies,
        matrices,
    )
)


@dataclass(frozen=True)
class PtxFunction:
    """A function's definition, and the declarations of what it calls by their names."""

    definition: str
    declarations: dict[str, str]

    @property
    def is_empty(self) -> bool:
        """Returns whether it does nothing."""
        _, *body, _ = self.definition.splitlines()
        return [line.strip() for line in body] == ["entry:", "ret void"]


@dataclass(frozen=True)
class PtxOperation:
    """A template's instructions, the number of its results, and for each input which result it
    begins as, and whether it is a constant.
    """

    statements: tuple[Statement, ...]
    outputs: int
    tied: tuple[int | None, ...]
    immediate: tuple[bool, ...]

    def function(
        self, name: str, result_type: str, operands: Sequence[tuple[str, str]]
    ) -> PtxFunction:
        """Returns the function that a call with these operands (type, value) becomes one of.

        It takes the operands in their order. Constants are part of it, so that calls with other
        constants need a function of their own.
        """
        types = [type_ for type_, _ in operands]
        writer = Writer(result_type, self.outputs, types, self.tied)
        for number, (_, value) in enumerate(operands):
            if self.immediate[number]:
                writer.fix(self.outputs + number, value)
        for statement in self.statements:
            _write(writer, statement)
        return PtxFunction(writer.definition(name, types), writer.declared)


def inline_ptx(template: str, constraints: str) -> PtxOperation:
    """Reads a template, with its constraints as IR spells them: "=r,r,n,0,~{memory}".

    Raises UnsupportedError for an instruction that is not known, by its name.
    """
    listed = [part for part in constraints.split(",") if part and not part.startswith("~")]
    outputs = sum(part.startswith("=") for part in listed)
    inputs = listed[outputs:]
    statements = with_waits(parse_ptx(template.replace("$$", "$")))
    for statement in statements:
        if isinstance(statement, PtxInstruction) and _handler(statement.opcode) is None:
            raise _unknown(statement.opcode)
    tied = tuple(int(part) if part.isdigit() else None for part in inputs)
    immediate = tuple(part in ("n", "i") for part in inputs)
    return PtxOperation(tuple(statements), outputs, tied, immediate)


def _handler(opcode: str):
    for table in _TABLES:
        if (found := table.find(opcode)) is not None:
            return found
    return None


def _unknown(opcode: str) -> UnsupportedError:
    return UnsupportedError(
        f"the CPU device does not know the PTX instruction '{opcode}'", stage="cpu-device"
    )


def _write(w: Writer, statement: Statement) -> None:
    match statement:
        case Register(name, type_):
            w.declare(name, TYPES[type_])
        case Label(name):
            w.begin(w.label_of(name))
        case PtxInstruction():
            _write_instruction(w, statement)


def _write_instruction(w: Writer, it: PtxInstruction) -> None:
    handler = _handler(it.opcode)
    if handler is None:
        raise _unknown(it.opcode)
    try:
        if not it.predicate:
            handler(w, it)
            return
        done, after = w.label(), w.label()
        condition = w.read(f"{'!' if it.negated else ''}{it.predicate}", "i1")
        w.line(f"br i1 {condition}, label %{done}, label %{after}")
        w.open(done)
        handler(w, it)
        w.begin(after)
    except (KeyError, IndexError, ValueError) as error:
        text = f"{it.opcode} {', '.join(it.operands)}"
        raise UnsupportedError(
            f"the CPU device cannot read the PTX instruction '{text}'", stage="cpu-device"
        ) from error
