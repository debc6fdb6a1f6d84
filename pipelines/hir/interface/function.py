"""The exported C function of a program."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import llvm
from ....dialects.mlir import arith, cf, func, ir
from ...locations import location_text
from .arguments import argument, given_argument
from .caller_tensors import CallerTensor, read_tensor
from .code import Code
from .graphs import Replays
from .info import numbers
from .results import store_result
from .signature import Signature
from .weights import Weights


def add_function(
    code: Code,
    signature: Signature,
    weights: Weights | None,
    *,
    executable: bool,
    replays: Replays,
) -> None:
    """Adds `int hirc_program_NAME(const DLTensor *const *, DLTensor *const *, void *stream)`.

    It has every tensor checked, calls the body and fills in the outputs. It returns 0; 1 where a
    tensor is wrong or there are no weights; then nothing ran; or 2 where something failed
    (calls.c of the support library). That of a library tells the support library of each call. One
    that `replays` is called by way of its device graphs.
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
    with ir.InsertionPoint(start):
        place = code.string(location_text(signature.body.location))
        device = code.value_of_call("hirc_memory_device", [place], types.i64)
        given = [code.address_of(info), inputs, outputs, device]
        refused = code.call("hirc_call_refused", given, types.i32)
    run = _unless(code, start, refused)
    run, base = _kept_memory(code, run, signature, weights, start.arguments, device)
    with ir.InsertionPoint(run):
        if not executable:
            code.call("hirc_call_begins", [code.address_of(info), inputs, outputs])
        taken = [read_tensor(code, inputs, *each) for each in enumerate(signature.inputs)]
        made = [
            read_tensor(code, outputs, *each, is_output=True)
            for each in enumerate(signature.outputs)
        ]
        results = _call(code, signature, taken, made, [stream, *base])
        for each, result in zip(made, results, strict=True):
            store_result(code, each, result, taken, device)
        llvm.end(code.i32(0))


def _kept_memory(
    code: Code,
    run: ir.Block,
    signature: Signature,
    weights: Weights | None,
    arguments: Sequence[ir.Value],
    device: ir.Value,
) -> tuple[ir.Block, list[ir.Value]]:
    """Returns the addresses of the weights and the state that the program has, and the block for
    what follows. The function ends where one cannot be had, or a tensor of the call lies there.
    """
    types, (inputs, outputs, stream) = code.types, arguments
    weight = state = None
    if weights is not None and signature.has_weights:
        missing = run.create_after()
        with ir.InsertionPoint(run):
            number = arith.trunci(types.i32, arith.shrui(device, code.i64(32)))
        run, weight = weights.address(code, run, number, missing)
        _end_with_error(code, missing)
    if weights is not None and signature.has_state:
        missing = run.create_after()
        run, state = weights.state_address(code, run, stream, missing)
        _end_with_error(code, missing)
    held = [each for each in (weight, state) if each is not None]
    if state is None and not (held and _writes(signature)):
        return run, held
    used = numbers(code, f"hirc_states_of_{signature.name}", signature.states)
    with ir.InsertionPoint(run):
        given = [
            *(code.address_of(signature.symbols[1]), inputs, outputs),
            *(each or code.null() for each in (weight, state)),
            code.address_of(used) if used else code.null(),
            code.i64(len(signature.states)),
        ]
        shared = code.call("hirc_kept_is_shared", given, types.i32)
    return _unless(code, run, shared), held


def _end_with_error(code: Code, block: ir.Block) -> None:
    with ir.InsertionPoint(block):
        llvm.end(code.call("hirc_error_status", [], code.types.i32))


def _writes(signature: Signature) -> bool:
    """Returns whether the program writes to its caller's memory."""
    written = [each.can_be_given or not each.is_buffer for each in signature.outputs]
    return any(written) or any(each.is_written for each in signature.inputs)


def _unless(code: Code, block: ir.Block, wrong: ir.Value | None) -> ir.Block:
    """Ends a block: where an i32 is not 0, the function returns 1. Returns the next block."""
    assert wrong is not None
    refusing = block.create_after()
    following = refusing.create_after()
    with ir.InsertionPoint(block):
        cf.CondBranchOp(code.differ(wrong, code.i32(0)), [], [], refusing, following)
    with ir.InsertionPoint(refusing):
        llvm.end(code.i32(1))
    return following


def _call(
    code: Code,
    signature: Signature,
    taken: list[CallerTensor],
    made: list[CallerTensor],
    last: Sequence[ir.Value],
) -> list[ir.Value]:
    """Calls the body; `last` are its arguments after the outputs that were handed in."""
    kinds = signature.argument_types
    arguments = [argument(code, each, kind) for each, kind in zip(taken, kinds, strict=False)]
    if signature.takes_given:
        buffers = [each for each in made if each.value.is_buffer]
        for each, kind in zip(buffers, kinds[len(taken) : -1], strict=True):
            arguments.append(given_argument(code, each, kind))
    body = signature.body
    callee = ir.StringAttr(body.attributes["sym_name"]).value
    call = func.CallOp(list(body.opview.type.results), callee, [*arguments, *last])
    return list(call.results)
