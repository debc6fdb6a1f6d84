"""The exported C function of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects import llvm
from ....dialects.mlir import cf, func, ir
from ...locations import location_text
from .arguments import argument, given_argument
from .checks import Checker, Seen
from .code import Code
from .graphs import Replays
from .info import numbers
from .overlaps import (
    Kept,
    Span,
    compares_spans,
    kept_by_library,
    lies_in_kept,
    misplaced_outputs,
    overlaps,
    overlaps_by_library,
    refused_by_library,
    repeats_by_library,
    spans_of,
)
from .results import store_result
from .signature import Signature, Value
from .tensor import tensor_at
from .weights import Weights

# How many faults, or doubts, a branch is made of.
_CONDITIONS = 32


def add_function(
    code: Code,
    signature: Signature,
    weights: Weights | None,
    *,
    max_rank: int,
    executable: bool,
    replays: Replays,
) -> None:
    """Adds `int hirc_program_NAME(const DLTensor *const *, DLTensor *const *, void *stream)`.

    It checks every tensor, calls the body and fills in the outputs. It returns 0; 1 where a tensor
    is wrong or there are no weights; then nothing ran; or 2 where something failed
    (calls.c of the support library). That of a library tells the support library of each call. No
    program of the module has a value of more than `max_rank` dims. One that `replays` is called by
    way of its device graphs.
    """
    types = code.types
    name, info = signature.symbols
    kind = ir.Type.parse("!llvm.func<i32 (ptr, ptr, ptr)>")
    guarded = f"hirc_guarded_{signature.name}"
    entry = llvm.function(name, kind).regions[0].blocks.append(*[types.ptr] * 3)
    with ir.InsertionPoint(entry):
        passed = [code.address_of(guarded), *entry.arguments]
        is_graph = replays is not Replays.NEVER
        if is_graph:
            passed[1:1] = [
                code.address_of(code.zeroed_words("hirc_graphs", 1)),
                code.address_of(info),
            ]
        guard = "hirc_guard_graph" if is_graph else "hirc_guard"
        llvm.end(code.call(guard, passed, types.i32))
    function = llvm.function(guarded, kind, is_private=True, is_inlined=False)
    start = function.regions[0].blocks.append(*[types.ptr] * 3)
    inputs, outputs, stream = start.arguments
    branches = _Branches(code, start)
    with ir.InsertionPoint(start):
        checker = Checker(code, max_rank, location_text(signature.body.location))
    taken: list[Seen] = []
    for place, value in enumerate(signature.inputs):
        with ir.InsertionPoint(branches.block):
            taken.append(_seen(checker, inputs, place, value))
            branches.add(taken[-1].faults)
    made: list[Seen] = []
    for place, value in enumerate(signature.outputs):
        with ir.InsertionPoint(branches.block):
            made.append(_seen(checker, outputs, place, value, is_output=True))
            branches.add(made[-1].faults)
    compares = compares_spans(taken, made)
    if not compares:
        # The support library reads sizes and strides, so the tensors have to be right by then.
        branches.end()
    with ir.InsertionPoint(branches.block):
        faults = misplaced_outputs(code, taken, made)
        # Of many tensors the support library finds out.
        spans = spans_of(code, taken, made) if compares else None
        if spans is not None:
            faults += overlaps(code, spans)
        else:
            faults.append(overlaps_by_library(code, code.address_of(info), inputs, outputs))
        branches.add(faults)
    branches.end()
    with ir.InsertionPoint(branches.block):
        doubt = code.differ(checker.away, code.i64(0))
    doubts = [doubt] if code.known(doubt) != 0 else []
    branches.ask(doubts, lambda: refused_by_library(code, code.address_of(info), inputs, outputs))
    doubts = [seen.doubt for seen in made if seen.doubt is not None and code.known(seen.doubt) != 0]
    run = branches.ask(doubts, lambda: repeats_by_library(code, code.address_of(info), outputs))
    with ir.InsertionPoint(branches.failed):
        code.call("hirc_input_error", [code.address_of(info), inputs, outputs])
        llvm.end(code.i32(1))
    base: list[ir.Value] = []
    kept: list[Kept] = []
    if weights is not None and signature.has_weights:
        unloaded = run.create_after()
        with ir.InsertionPoint(run):
            device = checker.device_number
        run, address = weights.address(code, run, device, unloaded)
        base.append(address)
        kept.append(Kept(address, 0, weights.bytes, is_state=False))
        with ir.InsertionPoint(unloaded):
            llvm.end(code.call("hirc_error_status", [], code.types.i32))
    if weights is not None and signature.has_state:
        missing = run.create_after()
        run, address = weights.state_address(code, run, stream, missing)
        base.append(address)
        kept.append(Kept(address, *weights.state_range(signature.states), is_state=True))
        with ir.InsertionPoint(missing):
            llvm.end(code.call("hirc_error_status", [], code.types.i32))
    branches.block = run
    run = _ask_of_kept(branches, signature, (inputs, outputs), spans, kept)
    with ir.InsertionPoint(run):
        if not executable:
            code.call("hirc_call_begins", [code.address_of(info), inputs, outputs])
    with ir.InsertionPoint(run):
        results = _call(code, signature, taken, made, [stream, *base])
        for seen, result in zip(made, results, strict=True):
            store_result(checker, seen, result, taken)
        llvm.end(code.i32(0))


def _ask_of_kept(
    branches: _Branches,
    signature: Signature,
    tensors: tuple[ir.Value, ir.Value],
    spans: Sequence[Span] | None,
    kept: Sequence[Kept],
) -> ir.Block:
    """Ends the call where a tensor lies in what the program keeps; returns the block for what
    follows.

    `spans` are those of the tensors, None of too many to compare them in line.
    """
    code = branches.code
    doubts: list[ir.Value] = []
    with ir.InsertionPoint(branches.block):
        for each in kept:
            doubt = code.truth(True) if spans is None else lies_in_kept(code, spans, each)
            doubts += [doubt] if doubt is not None else []
    if not doubts:
        return branches.block
    refused = branches.block.create_after()
    with ir.InsertionPoint(refused):
        llvm.end(code.i32(1))
    states = [each.base for each in kept if each.is_state]
    weights = [each.base for each in kept if not each.is_state]
    info = signature.symbols[1]
    used = numbers(code, f"hirc_states_of_{signature.name}", signature.states)

    def is_wrong() -> ir.Value:
        return kept_by_library(
            code,
            code.address_of(info),
            tensors,
            weights[0] if weights else code.null(),
            states[0] if states else code.null(),
            code.address_of(used) if used else code.null(),
            len(signature.states),
        )

    return branches.ask(doubts, is_wrong, refused)


class _Branches:
    """The blocks of a function that ends up in `failed` where there is a fault.

    What decides are the faults of a few tensors, made without a branch, and a branch: LLVM takes
    quadratic time over what is made of hundreds.
    """

    def __init__(self, code: Code, start: ir.Block) -> None:
        self.code = code
        self._waiting: list[ir.Value] = []
        self.block = start
        self.failed = start.create_after()

    def add(self, faults: Sequence[ir.Value]) -> None:
        """Takes faults that were made at the end of `block`, which may end with them."""
        self._waiting += faults
        if len(self._waiting) >= _CONDITIONS:
            self.end()

    def end(self) -> ir.Block:
        """Ends the block with what faults there are and returns the next."""
        if self._waiting:
            following = self.block.create_after()
            with ir.InsertionPoint(self.block):
                fault = self.code.together(self._waiting)
                condition = self.code.differ(fault, self.code.i64(0))
                cf.CondBranchOp(condition, [], [], self.failed, following)
            self.block, self._waiting = following, []
        return self.block

    def ask(
        self,
        doubts: Sequence[ir.Value],
        is_wrong: Callable[[], ir.Value],
        failed: ir.Block | None = None,
    ) -> ir.Block:
        """Asks what costs more than a condition where one of the doubts holds.

        Returns the block for what follows. What is wrong ends in `failed`.
        """
        for start in range(0, len(doubts), _CONDITIONS):
            asking = self.block.create_after()
            following = asking.create_after()
            with ir.InsertionPoint(self.block):
                doubt = self.code.any(doubts[start : start + _CONDITIONS])
                cf.CondBranchOp(doubt, [], [], asking, following)
            with ir.InsertionPoint(asking):
                cf.CondBranchOp(is_wrong(), [], [], failed or self.failed, following)
            self.block = following
        return self.block


def _seen(
    checker: Checker, tensors: ir.Value, place: int, value: Value, *, is_output: bool = False
) -> Seen:
    tensor = tensor_at(checker.code, tensors, place)
    if value.is_buffer:
        return checker.buffer(tensor, value, is_output=is_output)
    return checker.scalar(tensor, value)


def _call(
    code: Code,
    signature: Signature,
    taken: list[Seen],
    made: list[Seen],
    last: Sequence[ir.Value],
) -> list[ir.Value]:
    """Calls the body; `last` are its arguments after the outputs that were handed in."""
    kinds = signature.argument_types
    arguments = [argument(code, seen, kind) for seen, kind in zip(taken, kinds, strict=False)]
    if signature.takes_given:
        buffers = [seen for seen in made if seen.value.is_buffer]
        for seen, kind in zip(buffers, kinds[len(taken) : -1], strict=True):
            arguments.append(given_argument(code, seen, kind))
    body = signature.body
    callee = ir.StringAttr(body.attributes["sym_name"]).value
    call = func.CallOp(list(body.opview.type.results), callee, [*arguments, *last])
    return list(call.results)
