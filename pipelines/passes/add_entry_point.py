"""add-entry-point: the C `main` that calls a program's entry function."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import func, ir
from ...dialects.records import dataclass
from ..host.emitter import Emitter
from ..locations import location_text
from ..pass_base import Pass, fail, register
from ..symbols import make_room_for_main

_RENAMED = "hirc_entry_main"
_OTHER = "hirc_other_main"
# What runs a program as a command; C's main, which calls it, is there then.
_COMMAND = "hirc_command"


@register
@dataclass(frozen=True)
class AddEntryPoint(Pass):
    """Makes `entry` what the executable runs.

    The entry takes nothing and returns nothing, or an i32 that is the exit code. One called
    `main` is renamed, since C's main has another type. The end of the program waits for the
    device where any translation unit used it, so that a failing kernel is never lost.

    A module without the function is left alone: another translation unit may have it. So is one
    whose entry is a program with inputs or outputs: add-program-interface has made its main. Unless
    `required`, so is a function of another type. With an entry of another name, `main` gives up
    its name.

      func.func @main() { ... }   ->   func.func private @hirc_entry_main() { ... }
                                       func.func @main() -> i32 { call @hirc_entry_main ... }
    """

    name: ClassVar[str] = "add-entry-point"
    entry: str = "main"
    required: bool = True

    def run(self, op: ir.Operation) -> None:
        symbols = ir.SymbolTable(op)
        if _COMMAND in symbols:
            return
        if self.entry != "main" and "main" in symbols:
            make_room_for_main(op, symbols["main"].operation, _OTHER)
        if self.entry not in symbols:
            return
        function = symbols[self.entry].operation
        if function.name != "func.func":
            if function.name == "llvm.func" and self.entry == "main":
                return
            fail(function, f"the entry '{self.entry}' is a {function.name}, not a func.func")
        kind = function.opview.type
        i32 = ir.IntegerType.get_signless(32)
        if list(kind.inputs) or list(kind.results) not in ([], [i32]):
            if not self.required:
                return
            fail(
                function,
                f"the entry '{self.entry}' has type {kind}; an executable's entry takes nothing "
                "and returns nothing or i32. Wrap it in a function that does, or build with "
                "--emit=shared or --emit=object",
            )
        if not list(function.regions[0].blocks):
            return
        if self.entry == "main":
            make_room_for_main(op, function, _RENAMED)
        target = ir.StringAttr(function.attributes["sym_name"]).value
        with function.location, ir.InsertionPoint(op.regions[0].blocks[0]):
            _main(op, target, list(kind.results), location_text(function.location))


def _main(module: ir.Operation, target: str, results: list[ir.Type], position: str) -> None:
    i32 = ir.IntegerType.get_signless(32)
    main = func.FuncOp("main", ([], [i32]))
    block = main.add_entry_block()
    with ir.InsertionPoint(block):
        call = func.CallOp(results, target, [])
        zero = ir.Operation.create(
            "arith.constant", results=[i32], attributes={"value": ir.IntegerAttr.get(i32, 0)}
        ).result
        end = func.ReturnOp([call.results[0] if results else zero])
    emit = Emitter(module).at(end.operation)
    emit.call("hirc_program_end", [emit.string(position)])
