"""`hir.program`: the container: typed inputs, outputs, and a body."""

from ..mlir import ext, ir
from .call_cycles import calls_itself
from .dialect import Hir
from .program_inputs import are_input_descriptions
from .program_mesh import has_its_spreads
from .refusal import has_one_block, refuse, whole_number
from .values import mismatch, not_a_value

_DIALECTS = ("hir", "arith", "math", "index", "memref", "linalg")
_OPERATIONS = ("cf.assert", "builtin.unrealized_conversion_cast")


class ProgramOp(
    Hir.Operation, name="program", traits=[ir.IsIsolatedFromAboveTrait, ir.NoTerminatorTrait]
):
    """A host program. The one block's arguments are the inputs; `hir.output` operations end it.

    `inputs` describes them: an array with one dictionary an input, of its `name`, its `sizes` (one
    entry a dim: a number, or a name; equal names are equal sizes, checked at run time), the
    `alignment` of its first element in bytes, and `written` where the program writes to it: then no
    other tensor of a call may be in its memory. The caller has signless integers that are
    `unsigned` without a sign. An input that the linked file has itself, instead of being passed,
    has the name of that `weight` alone; it is packed, of fixed sizes, read only.
    One that an instance of the library keeps from call to call, and that the program may write, has
    the name of that `state` in its place, and with it `zero_init` where it begins as zeros.

    A program with a `mesh`, the sizes of its axes, says what the whole is: each of as many devices
    is given its part of the inputs and gives its part of the outputs, as their `spread` says, one
    spread for each axis (see hir.reshard). An operation's `spread` is that of its result.

    Example:
      "hir.program"() ({
      ^bb0(%x: memref<?xf32>):
        %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
        "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
      }) {sym_name = "main", inputs = [{name = "x", sizes = ["n"]}],
          function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()
    """

    sym_name: ir.StringAttr
    function_type: ir.TypeAttr
    body: ext.Region

    @staticmethod
    def verify_invariants(op: "ProgramOp") -> bool:
        if not op.sym_name.value:
            return refuse(op, "hir.program has a name; 'sym_name' is empty")
        parent = op.operation.parent
        if parent is not None and parent.name != "builtin.module":
            return refuse(op, f"hir.program stands in a builtin.module, not in {parent.name}")
        declared = op.function_type.value
        if not isinstance(declared, ir.FunctionType):
            return refuse(op, f"'function_type' is the type of a function, not {declared}")
        if not has_one_block(op, op.body, "the body of hir.program", arguments=-1):
            return False
        return (
            _has_inputs(op, declared)
            and are_input_descriptions(op, declared)
            and _holds_what_it_may(op)
        )

    @staticmethod
    def verify_region_invariants(op: "ProgramOp") -> bool:
        # What it holds is verified by now.
        return (
            _has_outputs(op, ir.FunctionType(op.function_type.value))
            and not calls_itself(op)
            and has_its_spreads(op)
        )


def _has_inputs(op: ProgramOp, declared: ir.FunctionType) -> bool:
    given = [argument.type for argument in op.body.blocks[0].arguments]
    if len(given) != len(declared.inputs):
        return refuse(
            op,
            f"@{op.sym_name.value} declares {len(declared.inputs)} inputs in 'function_type', but "
            f"its block has {len(given)} arguments",
        )
    for number, (argument, wanted) in enumerate(zip(given, declared.inputs, strict=True)):
        if argument != wanted:
            return refuse(
                op,
                f"input {number} of @{op.sym_name.value} is {wanted} in 'function_type', but the "
                f"block's argument is {argument}",
            )
        reason = not_a_value(argument)
        if reason is not None:
            return refuse(op, f"input {number} of @{op.sym_name.value}, {argument}, {reason}")
    for number, wanted in enumerate(declared.results):
        reason = not_a_value(wanted)
        if reason is not None:
            return refuse(op, f"output {number} of @{op.sym_name.value}, {wanted}, {reason}")
    return True


def _holds_what_it_may(op: ProgramOp) -> bool:
    foreign: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name.partition(".")[0] not in _DIALECTS and inner.name not in _OPERATIONS:
            foreign.append(inner)
            return ir.WalkResult.INTERRUPT
        # What a linalg operation computes an element with is its own matter.
        is_linalg = inner.name.startswith("linalg.")
        return ir.WalkResult.SKIP if is_linalg else ir.WalkResult.ADVANCE

    for child in op.body.blocks[0]:
        child.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        if foreign:
            known = ", ".join((*_DIALECTS, *_OPERATIONS))
            return refuse(
                foreign[0],
                f"a program holds operations of {known}, not {foreign[0].name}; what a kernel does "
                "goes into a gpu.func for hir.launch, other code into C for hir.host_call",
            )
    return True


def _has_outputs(op: ProgramOp, declared: ir.FunctionType) -> bool:
    outputs: list[ir.OpView] = []
    for child in op.body.blocks[0]:
        if child.operation.name == "hir.output":
            outputs.append(child)
        elif outputs:
            return refuse(
                child,
                f"{child.operation.name} comes after an output of @{op.sym_name.value}; the "
                "outputs end the program: put it before them",
            )
    if len(outputs) != len(declared.results):
        return refuse(
            op,
            f"@{op.sym_name.value} declares {len(declared.results)} outputs in 'function_type', "
            f"but its body has {len(outputs)} hir.output",
        )
    for number, (output, wanted) in enumerate(zip(outputs, declared.results, strict=True)):
        reason = mismatch(output.operation.operands[0].type, wanted)
        if reason is not None:
            return refuse(
                output, f"output {number} of @{op.sym_name.value} is not as declared: {reason}"
            )
    return _has_allocated(op, len(outputs)) and _names_differ(op, outputs)


def _has_allocated(op: ProgramOp, outputs: int) -> bool:
    """Returns whether the allocations that are for an output name one of the program's."""
    for child in op.body.blocks[0]:
        number = whole_number(child, "output") if child.operation.name == "hir.allocate" else None
        if number is not None and number >= outputs:
            return refuse(
                child,
                f"'output' is {number}, and @{op.sym_name.value} has {outputs} outputs, numbered "
                "from 0",
            )
    return True


def _names_differ(op: ProgramOp, outputs: list[ir.OpView]) -> bool:
    seen: dict[str, int] = {}
    for number, output in enumerate(outputs):
        given = output.attributes.get("name")
        name = given.value if isinstance(given, ir.StringAttr) else f"output{number}"
        if name in seen:
            return refuse(
                output,
                f"outputs {seen[name]} and {number} of @{op.sym_name.value} are both called "
                f"'{name}'; give each a name of its own (without one it is its number: "
                f"output{number})",
            )
        seen[name] = number
    return True
