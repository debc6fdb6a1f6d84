"""add-program-interface: the C function of each program, and the command an executable is."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..body_names import BODY_PREFIX, CALLING
from ..hir.interface.code import Code
from ..hir.interface.entry import add_body, add_main, first_that_cannot_pass, is_program
from ..hir.interface.exports import add_exports, add_packed_function
from ..hir.interface.function import add_function
from ..hir.interface.graphs import Replays, replays_of
from ..hir.interface.info import add_calling, add_info
from ..hir.interface.signature import Signature, check_described, read_signature
from ..hir.interface.weights import Weights, bind_weights, program_name
from ..pass_base import Pass, fail, register
from ..symbols import make_room_for_main
from ..walking import host_operations_where
from ..weights import read_layout

_RENAMED = "hirc_entry_main"
_OTHER = "hirc_other_main"


@register
@dataclass(frozen=True)
class AddProgramInterface(Pass):
    """Gives every lowered program, a `@hirc_body_NAME`, its C function and its description.

      func.func private @hirc_body_main(%x: memref<?xf32>,
          %y: memref<?xf32, strided<[?], offset: ?>>, %stream: !llvm.ptr)
          -> memref<?xf32, strided<[?], offset: ?>>
          attributes {hir.inputs = [{name = "x", type = memref<?xf32>}],
                      hir.outputs = [{name = "y", type = memref<?xf32>, origin = "allocated"}]}
    stays, and beside it come
      llvm.func @hirc_program_main(%inputs: !llvm.ptr, %outputs: !llvm.ptr, %stream: !llvm.ptr)
          -> i32
      llvm.mlir.global external constant @hirc_program_main_info()
    and in a library tvm-ffi's @__tvm_ffi_main and, where the body carries `hir.calling`, the string
    @hirc_program_main_calling.
    The function takes DLTensors of the DLPack specification, checks them and calls the body.
    Weights and state are no inputs of it: it asks the support library for their addresses, for the
    body.

    A program of at least `graph_launches` launches, where that is not 0, is replayed as a device
    graph (graphs.c of the support library) if it does nothing that no graph can.

    The `entry`, a func.func that takes or returns buffers or scalars, becomes a program too. In an
    `executable` C's main then runs the entry as a command; anything else exports what a caller
    needs besides the programs. An entry that takes nothing is left to add-entry-point.
    """

    name: ClassVar[str] = "add-program-interface"
    entry: str = "main"
    executable: bool = True
    graph_launches: int = 0

    def run(self, op: ir.Operation) -> None:
        with op.location:
            self._entry_body(op)
        # One for all: it knows the module's symbols, and has each string once.
        code = Code(op, op)
        weights = _bind_weights(code, op)
        signatures = [read_signature(body, name) for body, name in _bodies(op)]
        _check_symbols(signatures)
        for signature in signatures:
            with signature.body.location, ir.InsertionPoint(op.regions[0].blocks[0]):
                code.at(signature.body)
                replays = replays_of(op, signature.body, self.graph_launches)
                add_function(
                    code,
                    signature,
                    weights,
                    executable=self.executable,
                    replays=replays,
                )
                holds = signature.has_weights or signature.has_state
                symbol = weights.symbol if weights is not None and holds else ""
                add_info(code, signature, symbol, repeats=replays is Replays.FOLLOWING)
                if not self.executable:
                    add_calling(code, signature)
                    add_packed_function(code, signature)
        self._finish(op, signatures)

    def _entry_body(self, op: ir.Operation) -> None:
        """Makes the entry's body where it is a func.func with something to pass."""
        symbols = ir.SymbolTable(op)
        if self.entry not in symbols or f"{BODY_PREFIX}{self.entry}" in symbols:
            return
        function = symbols[self.entry].operation
        if function.name != "func.func" or not is_program(function):
            return
        wrong = first_that_cannot_pass(function)
        if wrong is not None:
            if self.executable:
                fail(
                    function,
                    f"the entry '{self.entry}' takes or returns {wrong}, which a command cannot "
                    "pass: buffers of known rank and scalars can be. Wrap it in a function "
                    "that does, or build with --emit=shared or --emit=object",
                )
            return
        target = self.entry
        if self.executable and target == "main":
            make_room_for_main(op, function, _RENAMED)
            target = _RENAMED
        with function.location, ir.InsertionPoint(op.regions[0].blocks[0]):
            add_body(Code(op, function), function, self.entry, target)

    def _finish(self, op: ir.Operation, signatures: list[Signature]) -> None:
        """Adds main, or what a library exports."""
        if not signatures:
            return
        entry = next((each for each in signatures if each.name == self.entry), None)
        with ir.InsertionPoint(op.regions[0].blocks[0]):
            if not self.executable or entry is None:
                with op.location:
                    # The first values of state are weights, too.
                    holds = any(each.has_weights or each.has_state for each in signatures)
                    state = any(each.has_state for each in signatures)
                    add_exports(Code(op, op), op, has_weights=holds, has_state=state)
                return
            symbols = ir.SymbolTable(op)
            if "main" in symbols:
                make_room_for_main(op, symbols["main"].operation, _OTHER)
            with entry.body.location:
                add_main(Code(op, entry.body), entry)


def _check_symbols(signatures: list[Signature]) -> None:
    """Ends the pass where a program's name makes no symbol, or one that is another's."""
    known: dict[str, Signature] = {}
    for each in signatures:
        if {"@", "\0"} & {*each.name}:
            fail(
                each.body,
                f"the name of program {each.name!r} is part of a symbol, which has no '@' and no "
                "NUL",
            )
        calling = [f"{each.symbols[0]}_calling"] if CALLING in each.body.attributes else []
        for symbol in (*each.symbols, *calling):
            other = known.setdefault(symbol, each)
            if other is not each:
                fail(
                    each.body,
                    f"programs '{other.name}' and '{each.name}' would both export '{symbol}'; "
                    "rename one of them",
                )


def _bodies(module: ir.Operation) -> list[tuple[ir.Operation, str]]:
    """Returns the functions that run the programs, and the programs' names."""
    found: list[tuple[ir.Operation, str]] = []
    for child in module.regions[0].blocks[0]:
        if child.operation.name == "func.func" and "hir.inputs" in child.operation.attributes:
            symbol = ir.StringAttr(child.operation.attributes["sym_name"]).value
            found.append((child.operation, program_name(symbol)))
    return found


def _bind_weights(code: Code, module: ir.Operation) -> Weights | None:
    """Gives the bodies their weights; returns the description of all, None where there are none."""
    layout = read_layout(module)
    if layout is None:
        return None
    called = {
        ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        for call in host_operations_where(module, lambda inner: inner.name == "func.call")
    }
    for body, name in _bodies(module):
        check_described(body)
        with body.location:
            code.at(body)
            bind_weights(code, body, layout, is_called=BODY_PREFIX + name in called)
    with module.location, ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        return Weights(code, layout)
