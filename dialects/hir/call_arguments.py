"""Whether the arguments of a hir.call are what the program it runs takes."""

from itertools import pairwise

from ..mlir import ir
from .refusal import refuse
from .region_arguments import are_well_formed, arguments_of, destination_of
from .values import mismatch

FUNCTION = "func.func"
# What select-host-programs puts on functions, which buffers then replace the tensors of.
_CHOSEN = "hir.program"
# Of a program whose operations are to stand where it is called: what it gives is copied if need be.
_INLINED = "hir.inlined"
_VIEWS = ("hir.select", "hir.slice", "hir.permute", "hir.reshape", "hir.expand")


def declared_type(callee: ir.Operation) -> ir.FunctionType | None:
    """Returns what a program, or a function on tensors, says that it takes and gives.

    Tensors are buffers, which they become. None where it says nothing that could be read.
    """
    declared = ir.TypeAttr(callee.attributes["function_type"]).value
    if not isinstance(declared, ir.FunctionType) or callee.name != FUNCTION:
        return declared if isinstance(declared, ir.FunctionType) else None
    with callee.location:
        return ir.FunctionType.get(
            [_as_buffer(each) for each in declared.inputs],
            [_as_buffer(each) for each in declared.results],
        )


def is_tensor_function(callee: ir.Operation) -> bool:
    """Returns whether a callee is a function with a body that takes or gives tensors, or did."""
    if callee.name != FUNCTION or not len(callee.regions[0].blocks):
        return False
    if _CHOSEN in callee.attributes:
        return True
    declared = ir.FunctionType(ir.TypeAttr(callee.attributes["function_type"]).value)
    return any(
        isinstance(each, ir.RankedTensorType) for each in (*declared.inputs, *declared.results)
    )


def _as_buffer(kind: ir.Type) -> ir.Type:
    if not isinstance(kind, ir.RankedTensorType):
        return kind
    return ir.MemRefType.get(kind.shape, kind.element_type)


def take_arguments(op: ir.OpView, region: ir.Region, callee: ir.Operation) -> bool:
    """Returns whether the arguments fit what `callee` declares; says what is wrong where not."""
    name = f"@{ir.StringAttr(callee.attributes['sym_name']).value}"
    declared = declared_type(callee)
    arguments = arguments_of(region)
    if declared is None or not are_well_formed(arguments):
        return True  # The verifier of the program or of the argument says so.
    inputs = [argument for argument in arguments if destination_of(argument) is None]
    for first, second in pairwise(arguments):
        if destination_of(first) is not None and destination_of(second) is None:
            return refuse(second, f"the inputs of {name} come before the destinations")
    if len(inputs) != len(declared.inputs):
        return refuse(op, f"{name} takes {len(declared.inputs)} inputs, not {len(inputs)}")
    for number, (argument, wanted) in enumerate(zip(inputs, declared.inputs, strict=True)):
        reason = mismatch(argument.operands[0].type, wanted)
        if reason is not None:
            return refuse(argument, f"input {number} of {name}: {reason}")
    return _take_destinations(arguments[len(inputs) :], callee, declared, name)


def _take_destinations(
    arguments: list[ir.OpView], callee: ir.Operation, declared: ir.FunctionType, name: str
) -> bool:
    seen: set[int] = set()
    for argument in arguments:
        number = destination_of(argument)
        assert number is not None
        if number >= len(declared.results):
            return refuse(
                argument, f"{name} has {len(declared.results)} outputs; there is no output {number}"
            )
        if number in seen:
            return refuse(argument, f"output {number} of {name} has a destination already")
        seen.add(number)
        wanted = declared.results[number]
        if not isinstance(wanted, ir.MemRefType):
            return refuse(
                argument,
                f"output {number} of {name} is a scalar, {wanted}, which has no destination: take "
                "it with hir.result",
            )
        reason = mismatch(argument.operands[0].type, wanted)
        if reason is not None:
            return refuse(argument, f"the destination of output {number} of {name}: {reason}")
        origin = None if _INLINED in callee.attributes else _origin(callee, number)
        if origin is not None:
            return refuse(
                argument,
                f"output {number} of {name} is {origin}, so no buffer can be handed in for it: "
                "take it with hir.result, and copy it with hir.set",
            )
    return True


def _origin(callee: ir.Operation, number: int) -> str | None:
    """Returns what an output is that the program does not allocate; None where it does."""
    block = callee.regions[0].blocks[0] if len(callee.regions[0].blocks) else None
    outputs = [op for op in block or () if op.operation.name == "hir.output"]
    if number >= len(outputs):
        return None  # The program's own verifier says so.
    value = outputs[number].operation.operands[0]
    if isinstance(value, ir.BlockArgument):
        return f"its input {value.arg_number}"
    owner = value.owner
    is_view = isinstance(owner, ir.Operation | ir.OpView) and owner.operation.name in _VIEWS
    return "a view of something else" if is_view else None
