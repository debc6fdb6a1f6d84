"""A function of a plain GPU program as the body of a program, and C's `main`."""

from __future__ import annotations

from ....dialects import llvm
from ....dialects.mlir import func, ir
from ...body_names import BODY_PREFIX
from .code import Code
from .signature import Signature, is_describable


def is_program(function: ir.Operation) -> bool:
    """Returns whether a func.func takes or returns what a caller has to pass: buffers and scalars.

    One that takes nothing and returns nothing or an i32, the exit status, does not.
    """
    kind = function.opview.type
    i32 = ir.IntegerType.get_signless(32)
    if not list(kind.inputs) and list(kind.results) in ([], [i32]):
        return False
    return bool(list(function.regions[0].blocks))


def first_that_cannot_pass(function: ir.Operation) -> ir.Type | None:
    """Returns the first type of a function's that no caller can pass, or None."""
    kind = function.opview.type
    return next((item for item in [*kind.inputs, *kind.results] if not is_describable(item)), None)


def add_body(code: Code, function: ir.Operation, name: str, target: str) -> ir.Operation:
    """Returns the body that calls `function`, whose symbol is `target`, with the caller's buffers.

    The function's own operations are ordered among themselves and after the host; the body
    therefore waits for the caller's stream first.
    """
    kind = function.opview.type
    inputs, results = list(kind.inputs), list(kind.results)
    body = func.FuncOp(BODY_PREFIX + name, ([*inputs, code.types.ptr], results))
    body.operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
    body.operation.attributes["hir.inputs"] = _described(inputs, function, "arg_attrs")
    body.operation.attributes["hir.outputs"] = _described(results, function, "res_attrs")
    with ir.InsertionPoint(body.add_entry_block()):
        *arguments, stream = body.entry_block.arguments
        status = code.value_of_call("cudaStreamSynchronize", [stream], code.types.i32)
        code.call("hirc_check", [status, code.string("cudaStreamSynchronize"), code.location()])
        call = func.CallOp(results, target, arguments)
        func.ReturnOp(list(call.results))
    return body.operation


def _described(kinds: list[ir.Type], function: ir.Operation, attribute: str) -> ir.ArrayAttr:
    """Returns each value's type, and the name that an attribute `hir.name` gives it."""
    given = (
        list(ir.ArrayAttr(function.attributes[attribute]))
        if attribute in function.attributes
        else []
    )
    entries: list[ir.Attribute] = []
    for place, kind in enumerate(kinds):
        entry: dict[str, ir.Attribute] = {"type": ir.TypeAttr.get(kind)}
        if given and "hir.name" in ir.DictAttr(given[place]):
            entry["name"] = ir.DictAttr(given[place])["hir.name"]
        if attribute == "res_attrs":
            entry["origin"] = ir.StringAttr.get("view")
        entries.append(ir.DictAttr.get(entry))
    return ir.ArrayAttr.get(entries)


def add_main(code: Code, signature: Signature) -> None:
    """C's main: the program as a command."""
    types = code.types
    function, info = signature.symbols
    main = llvm.function("main", ir.Type.parse("!llvm.func<i32 (i32, ptr)>"))
    block = main.regions[0].blocks.append(types.i32, types.ptr)
    with ir.InsertionPoint(block):
        passed = [*block.arguments, code.address_of(info), code.address_of(function)]
        status = code.call("hirc_command", passed, types.i32)
        llvm.end(status)
