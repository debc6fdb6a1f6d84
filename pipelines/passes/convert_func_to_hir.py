"""convert-func-to-hir: functions on buffers become host programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import ClassVar

from ...dialects import hir
from ...dialects.hir.layout import buffer_type
from ...dialects.hir.program_inputs import is_state, is_unsigned, is_weight
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..body_names import CALLING, INLINED
from ..device_constants import move_to_device
from ..hir.host_accesses import load_element, store_element
from ..hir.memory.owners import Owners, outputs_of
from ..pass_base import Pass, PassFailure, fail, register
from ..walking import operations_where
from ..weights import MARK as WEIGHT
from ..weights import STATE_MARK as STATE
from ..weights import ZERO_MARK as ZERO
from .select_host_programs import MARK
from .write_updates import WRITTEN

_NAME = "hir.name"
_SIZES = "hir.sizes"
_UNSIGNED = "hir.unsigned"
_UNSIGNED_OUTPUT = "unsigned"


@register
@dataclass(frozen=True)
class ConvertFuncToHir(Pass):
    """Turns func.funcs of linalg on buffers into hir.programs, and calls of them into hir.calls.

    Made for what one-shot-bufferize leaves of functions on tensors: buffers are the device's, and
    an initialized memref.global becomes a device variable. Takes the functions that carry the unit
    attribute `hir.program` (see select-host-programs). An attribute `hir.name` of an argument or a
    result names the input or output, `hir.sizes` names an argument's sizes (as `sizes` of a
    hir.program's inputs does), `hir.unsigned` says that callers have its elements without a sign,
    `hirc.weight` and `hirc.state` say which weight or state an argument
    is; `hir.calling` of the function stays. Host code that reads or writes single elements gets
    them from the device, and an output is never a constant, a weight or state itself, which its
    owner could write to.

      func.func @main(%x: memref<?xf32>) -> memref<?xf32> {
        %y = memref.alloc(%n) : memref<?xf32>
        memref.copy %x, %y : memref<?xf32> to memref<?xf32>
        return %y : memref<?xf32>
      }
    becomes
      "hir.program"() ({
      ^bb0(%x: memref<?xf32>):
        %y = "hir.allocate"(%n) : (index) -> memref<?xf32>
        "hir.set"(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
        "hir.output"(%y) : (memref<?xf32>) -> ()
      }) {sym_name = "main", function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()
    """

    name: ClassVar[str] = "convert-func-to-hir"

    def run(self, op: ir.Operation) -> None:
        functions = [
            child.operation
            for child in op.regions[0].blocks[0]
            if child.operation.name == "func.func" and MARK in child.operation.attributes
        ]
        for function in functions:
            _check_operations(function)
        move_to_device(op, functions)
        programs: list[ir.Operation] = []
        for function in functions:
            program = _program(function)
            programs.append(program)
            for name, rewrite in _REWRITES.items():
                for inner in operations_where(program, lambda found, name=name: found.name == name):
                    if _is_in_kernel(inner) or _is_choice_of_scalars(inner):
                        continue
                    with inner.location, ir.InsertionPoint(inner):
                        rewrite(inner)
                    inner.erase()
            _describe_outputs(program, "name", _attributes(function, "res_attrs", _NAME))
            _describe_outputs(
                program, _UNSIGNED_OUTPUT, _attributes(function, "res_attrs", _UNSIGNED)
            )
        for function in functions:
            function.erase()
        for program in programs:
            _verify(program)
            _copy_held(program)


def _verify(program: ir.Operation) -> None:
    """Fails where what the function says is no program, for the reason that the verifier gives.

    An index out of range, a step of 0 or two inputs of one name are the function's.
    """
    try:
        is_valid = program.verify()
    except ir.MLIRError:
        is_valid = False
    if not is_valid:
        raise PassFailure("a function is no program")


def _check_operations(function: ir.Operation) -> None:
    """Refuses operations that a program has no place for."""
    for op in operations_where(function, lambda inner: inner != function):
        if op.name.startswith(_KEPT) or op.name in _REWRITES or op.name in _ENDS:
            continue
        if not _is_in_kernel(op):
            way_out = _WAYS_OUT.get(op.name, "what computes goes into a linalg operation")
            fail(op, f"{op.name} is no operation of the host in a function on tensors: {way_out}")


def _program(function: ir.Operation) -> ir.Operation:
    """Returns a program beside the function, with the operations of its body."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        fail(function, "a function with branches (cf) is no host program; use scf.if and scf.for")
    body = blocks[0]
    attributes: dict[str, ir.Attribute] = {
        "sym_name": function.attributes["sym_name"],
        "function_type": function.attributes["function_type"],
    }
    for name in ("sym_visibility", CALLING, INLINED):
        if name in function.attributes:
            attributes[name] = function.attributes[name]
    with function.location, ir.InsertionPoint(function):
        descriptions = _descriptions(function, len(body.arguments))
        if descriptions is not None:
            attributes["inputs"] = descriptions
        program = ir.Operation.create(
            hir.ProgramOp.OPERATION_NAME, attributes=attributes, regions=1
        )
    arguments = list(body.arguments)
    block = program.regions[0].blocks.append(
        *[argument.type for argument in arguments],
        arg_locs=[argument.location for argument in arguments],
    )
    for old, new in zip(arguments, block.arguments, strict=True):
        old.replace_all_uses_with(new)
    for op in list(body.operations):
        block.append(op)
    return program


def _descriptions(function: ir.Operation, count: int) -> ir.ArrayAttr | None:
    """Returns what the arguments' attributes say of the inputs; None where they say nothing."""
    names = _attributes(function, "arg_attrs", _NAME)
    sizes = _attributes(function, "arg_attrs", _SIZES)
    weights = _attributes(function, "arg_attrs", WEIGHT)
    states = _attributes(function, "arg_attrs", STATE)
    zeros = _attributes(function, "arg_attrs", ZERO)
    written = _attributes(function, "arg_attrs", WRITTEN)
    unsigned = _attributes(function, "arg_attrs", _UNSIGNED)
    if not any((names, sizes, weights, states, written, unsigned)):
        return None
    descriptions: list[ir.DictAttr] = []
    numbers = itertools.count()
    for place in range(count):
        if place in weights:
            descriptions.append(ir.DictAttr.get({"weight": weights[place]}))
        elif place in states:
            described = {"state": states[place]}
            if place in zeros:
                described["zero_init"] = zeros[place]
            if place in unsigned:
                described["unsigned"] = unsigned[place]
            descriptions.append(ir.DictAttr.get(described))
        else:
            # Numbers count what callers pass.
            default = ir.StringAttr.get(f"input{next(numbers)}")
            described = {"name": names.get(place, default)}
            if place in sizes:
                described["sizes"] = sizes[place]
            if place in written:
                described["written"] = written[place]
            if place in unsigned:
                described["unsigned"] = unsigned[place]
            descriptions.append(ir.DictAttr.get(described))
    return ir.ArrayAttr.get([*descriptions])


def _attributes(function: ir.Operation, attribute: str, key: str) -> dict[int, ir.Attribute]:
    """Returns an attribute of the arguments (arg_attrs) or results (res_attrs), by their number."""
    if attribute not in function.attributes:
        return {}
    given = [ir.DictAttr(each) for each in ir.ArrayAttr(function.attributes[attribute])]
    return {place: each[key] for place, each in enumerate(given) if key in each}


def _describe_outputs(program: ir.Operation, key: str, values: dict[int, ir.Attribute]) -> None:
    outputs = [op for op in program.regions[0].blocks[0] if op.operation.name == "hir.output"]
    for place, value in values.items():
        outputs[place].attributes[key] = value


def _create(
    name: str,
    results: list[ir.Type],
    operands: list[ir.Value],
    attributes: dict[str, ir.Attribute] | None = None,
    regions: int = 0,
) -> ir.Operation:
    return ir.Operation.create(
        name, results=results, operands=operands, attributes=attributes or {}, regions=regions
    )


def _allocate(op: ir.Operation) -> None:
    kind = ir.MemRefType(op.results[0].type)
    if len(op.operands) != sum(size == ir.ShapedType.get_dynamic_size() for size in kind.shape):
        fail(op, f"memref.alloc of {kind} has a layout with symbols; host programs know strides")
    made = _create(hir.AllocateOp.OPERATION_NAME, [kind], list(op.operands))
    op.results[0].replace_all_uses_with(made.results[0])


def _copy(op: ir.Operation) -> None:
    source, target = op.operands
    # A slice that was computed in its place is inserted there.
    if source != target:
        _create(hir.SetOp.OPERATION_NAME, [], [source, target])


def _deallocate(op: ir.Operation) -> None:
    _create(hir.DeallocateOp.OPERATION_NAME, [], list(op.operands))


def _is_in_kernel(op: ir.Operation) -> bool:
    """Returns whether it is in the body of a linalg operation."""
    parent = op.parent
    return parent is not None and (parent.name.startswith("linalg.") or _is_in_kernel(parent))


def _is_choice_of_scalars(op: ir.Operation) -> bool:
    return op.name == "arith.select" and not isinstance(op.results[0].type, ir.MemRefType)


def _select(op: ir.Operation) -> None:
    fail(
        op,
        "a choice of two buffers is no buffer of a program: update the one meant within scf.if",
    )


def _load(op: ir.Operation) -> None:
    buffer, *indices = op.operands
    op.results[0].replace_all_uses_with(load_element(buffer, indices))


def _store(op: ir.Operation) -> None:
    value, buffer, *indices = op.operands
    store_element(value, buffer, indices)


def _return(op: ir.Operation) -> None:
    """Outputs are the caller's: what is a constant's memory is copied."""
    for place, value in enumerate(op.operands):
        if _is_constant(value):
            kind = ir.MemRefType(value.type)
            packed = buffer_type(kind.shape, kind.element_type)
            op.operands[place] = _create(hir.SetOp.OPERATION_NAME, [packed], [value]).results[0]
    _output(op)


def _is_held(value: ir.Value) -> bool:
    return is_weight(value) or is_state(value)


def _copy_held(program: ir.Operation) -> None:
    """The same of outputs that may lie in the memory of a weight or state.

    And of those in an input's that the caller has with a sign, and the output without, or so.
    """
    arguments = program.regions[0].blocks[0].arguments
    outputs = outputs_of(program.regions[0].blocks[0])
    has_unsigned = any(map(is_unsigned, arguments)) or any(
        _UNSIGNED_OUTPUT in output.attributes for output in outputs
    )
    if not has_unsigned and not any(map(_is_held, arguments)):
        return
    owners = Owners(program)
    for output in outputs:
        value = output.operands[0]
        without_sign = _UNSIGNED_OUTPUT in output.attributes
        if any(
            _is_held(root.value)
            or (root.value in arguments and is_unsigned(root.value) != without_sign)
            for root in owners.roots(value)
        ):
            kind = ir.MemRefType(value.type)
            packed = buffer_type(kind.shape, kind.element_type)
            with output.location, ir.InsertionPoint(outputs[0]):
                output.operands[0] = _create(hir.SetOp.OPERATION_NAME, [packed], [value]).results[0]


def _is_constant(value: ir.Value) -> bool:
    """Returns whether a buffer is a device variable, or a view of one."""
    if isinstance(value.owner, ir.Block):
        return False
    op = value.owner.operation
    if op.name == "memref.get_global":
        return True
    return op.name.startswith("memref.") and len(op.operands) > 0 and _is_constant(op.operands[0])


def _output(op: ir.Operation) -> None:
    for value in op.operands:
        _create(hir.OutputOp.OPERATION_NAME, [], [value])


def _call(op: ir.Operation) -> None:
    attributes: dict[str, ir.Attribute] = {"callee": op.attributes["callee"]}
    call = _create(hir.CallOp.OPERATION_NAME, [hir.ResultsType.get()], [], attributes, regions=1)
    with ir.InsertionPoint(call.regions[0].blocks.append()):
        for value in op.operands:
            _create(hir.ArgumentOp.OPERATION_NAME, [], [value])
    _results(op, call)


def _results(op: ir.Operation, made: ir.Operation) -> None:
    for number, result in enumerate(op.results):
        index = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
        taken = _create(
            hir.ResultOp.OPERATION_NAME, [result.type], [made.results[0]], {"index": index}
        )
        result.replace_all_uses_with(taken.results[0])


def _for(op: ir.Operation) -> None:
    if len(op.results):
        fail(
            op,
            "an scf.for that carries scalars, or buffers that it cannot update in place, is no "
            "host loop: carry a scalar as a tensor without dims, and write each tensor to its own "
            "place (no exchange of two)",
        )
    made = _create(hir.ForOp.OPERATION_NAME, [], list(op.operands), regions=1)
    old = op.regions[0].blocks[0]
    block = made.regions[0].blocks.append(old.arguments[0].type, arg_locs=[op.location])
    old.arguments[0].replace_all_uses_with(block.arguments[0])
    _move(old, block)


def _if(op: ir.Operation) -> None:
    made = _create(hir.IfOp.OPERATION_NAME, [hir.ResultsType.get()], list(op.operands), regions=2)
    for old, new in zip(op.regions, made.regions, strict=True):
        block = new.blocks.append()
        if list(old.blocks):
            _move(old.blocks[0], block)
    _results(op, made)


def _move(old: ir.Block, block: ir.Block) -> None:
    """Moves a region's operations; what it yields are outputs of the new one."""
    *work, end = list(old.operations)
    for op in work:
        block.append(op)
    with ir.InsertionPoint(block), end.location:
        _output(end.operation)


_KEPT = ("hir.", "arith.", "math.", "index.", "memref.", "linalg.", "cf.", "builtin.")
_ENDS = ("scf.yield",)
_WAYS_OUT = {
    "scf.forall": "use linalg.generic, or scf.for",
    "scf.parallel": "use linalg.generic, or scf.for",
    "gpu.launch": "write the kernel as a gpu.func and launch it by hir.launch of a hir.program",
    "gpu.launch_func": "launch it by hir.launch of a hir.program",
}

_REWRITES: dict[str, Callable[[ir.Operation], None]] = {
    "arith.select": _select,
    "memref.alloc": _allocate,
    "memref.copy": _copy,
    "memref.dealloc": _deallocate,
    "func.call": _call,
    "func.return": _return,
    "memref.load": _load,
    "memref.store": _store,
    "scf.for": _for,
    "scf.if": _if,
}
