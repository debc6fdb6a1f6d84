"""The exported C function of a program."""

from __future__ import annotations

from ....dialects.mlir import cf, func, ir, llvm
from .arguments import argument, given_argument
from .checks import Checker, Seen, wrong_outputs
from .code import Code
from .results import store_result
from .signature import Signature, Value
from .tensor import tensor_at


def add_function(code: Code, signature: Signature) -> None:
    """Adds `int hirc_program_NAME(const DLTensor *const *, DLTensor *const *, void *stream)`.

    It checks every tensor, calls the body and fills in the outputs. It returns 0, or 1 where a
    tensor is wrong; then nothing ran.
    """
    types = code.types
    name, info = signature.symbols
    function = llvm.LLVMFuncOp(
        name, ir.TypeAttr.get(ir.Type.parse("!llvm.func<i32 (ptr, ptr, ptr)>"))
    )
    start = function.body.blocks.append(*[types.ptr] * 3)
    failed, run = start.create_after(), start.create_after()
    inputs, outputs, stream = start.arguments
    with ir.InsertionPoint(start):
        values = [*signature.inputs, *signature.outputs]
        checker = Checker(code, max((value.rank for value in values), default=0))
        taken = [_seen(checker, inputs, place, v) for place, v in enumerate(signature.inputs)]
        made = [
            _seen(checker, outputs, place, v, is_output=True)
            for place, v in enumerate(signature.outputs)
        ]
        wrong = [condition for seen in [*taken, *made] for condition in seen.wrong]
        wrong += wrong_outputs(code, taken, made)
        cf.CondBranchOp(code.any(wrong), [], [], failed, run)
    with ir.InsertionPoint(failed):
        code.call("hirc_input_error", [code.address_of(info), inputs, outputs])
        llvm.ReturnOp(arg=code.i32(1))
    with ir.InsertionPoint(run):
        results = _call(code, signature, taken, made, stream)
        for seen, result in zip(made, results, strict=True):
            store_result(checker, seen, result, taken)
        llvm.ReturnOp(arg=code.i32(0))


def _seen(
    checker: Checker, tensors: ir.Value, place: int, value: Value, *, is_output: bool = False
) -> Seen:
    tensor = tensor_at(checker.code, tensors, place)
    if value.is_buffer:
        return checker.buffer(tensor, value, is_output=is_output)
    return checker.scalar(tensor, value)


def _call(
    code: Code, signature: Signature, taken: list[Seen], made: list[Seen], stream: ir.Value
) -> list[ir.Value]:
    kinds = signature.argument_types
    arguments = [argument(code, seen, kind) for seen, kind in zip(taken, kinds, strict=False)]
    if signature.takes_given:
        buffers = [seen for seen in made if seen.value.is_buffer]
        for seen, kind in zip(buffers, kinds[len(taken) : -1], strict=True):
            arguments.append(given_argument(code, seen, kind))
    body = signature.body
    callee = ir.StringAttr(body.attributes["sym_name"]).value
    call = func.CallOp(list(body.opview.type.results), callee, [*arguments, stream])
    return list(call.results)
