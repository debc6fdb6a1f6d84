"""The attribute `inputs` of hir.program: names, sizes and alignment of the inputs, and weights."""

from ..mlir import ir
from .layout import DYNAMIC, buffer_type
from .refusal import refuse

_KEYS = ("name", "sizes", "alignment", "weight")


def input_name(program: ir.Operation, number: int) -> str:
    """What an input of a hir.program is called: its name, a weight's, or its number."""
    described: list[ir.Attribute] = []
    if "inputs" in program.attributes:
        described = list(ir.ArrayAttr(program.attributes["inputs"]))
    for key in ("name", "weight"):
        if number < len(described) and key in ir.DictAttr(described[number]):
            return ir.StringAttr(ir.DictAttr(described[number])[key]).value
    return f"input{number}"


def is_weight(value: ir.Value) -> bool:
    """Whether a buffer is a weight of its program."""
    if not isinstance(value, ir.BlockArgument):
        return False
    program = value.owner.owner.operation
    if program.name != "hir.program" or "inputs" not in program.attributes:
        return False
    described = ir.ArrayAttr(program.attributes["inputs"])[value.arg_number]
    return "weight" in ir.DictAttr(described)


def weight_name(description: ir.DictAttr) -> str | None:
    """The name of the weight that an input is, None where the caller passes it."""
    return ir.StringAttr(description["weight"]).value if "weight" in description else None


def are_input_descriptions(op: ir.OpView, declared: ir.FunctionType) -> bool:
    """Whether `inputs`, where it is there, describes the inputs; says what is wrong where not."""
    if "inputs" not in op.attributes:
        return True
    inputs = op.attributes["inputs"]
    if not isinstance(inputs, ir.ArrayAttr):
        return refuse(op, f"'inputs' is an array of dictionaries, one an input, not {inputs}")
    if len(inputs) != len(declared.inputs):
        return refuse(
            op,
            f"'inputs' has one dictionary an input, {len(declared.inputs)}, not {len(inputs)}",
        )
    seen: dict[tuple[str, str], int] = {}
    for number, description in enumerate(inputs):
        reason = _wrong(description, declared.inputs[number])
        if reason is not None:
            return refuse(op, f"'inputs' of input {number}: {reason}")
        # Weights have names of their own: a caller's input may be called as one is.
        key = "weight" if "weight" in ir.DictAttr(description) else "name"
        name = ir.StringAttr(ir.DictAttr(description)[key]).value
        if (key, name) in seen:
            both = f"inputs {seen[key, name]} and {number} are both"
            if key == "weight":
                return refuse(op, f"{both} the weight '{name}'; one input is enough")
            return refuse(op, f"{both} called '{name}'; give each its own")
        seen[key, name] = number
    return True


def _wrong(description: ir.Attribute, declared: ir.Type) -> str | None:
    if not isinstance(description, ir.DictAttr):
        return f"a dictionary is wanted, with name, sizes, alignment; it is {description}"
    for entry in description:
        if entry.name not in _KEYS:
            return f"the entries are {', '.join(_KEYS)}; there is no '{entry.name}'"
    if "weight" in description:
        return _wrong_weight(description, declared)
    name = description["name"] if "name" in description else None  # noqa: SIM401
    if not isinstance(name, ir.StringAttr) or not name.value:
        return "'name' is a string that is not empty"
    if not isinstance(declared, ir.MemRefType):
        extra = [key for key in ("sizes", "alignment") if key in description]
        return f"'{extra[0]}' is for buffers, not for {declared}: leave it out" if extra else None
    if "sizes" in description:
        reason = _wrong_sizes(description["sizes"], declared)
        if reason is not None:
            return reason
    if "alignment" in description:
        value = description["alignment"]
        bytes_ = value.value if isinstance(value, ir.IntegerAttr) else 0
        if bytes_ <= 0 or bytes_ & (bytes_ - 1):
            return f"'alignment' is a power of two, in bytes, not {value}"
    return None


def _wrong_weight(description: ir.DictAttr, declared: ir.Type) -> str | None:
    extra = [entry.name for entry in description if entry.name != "weight"]
    if extra:
        return f"a weight has no '{extra[0]}' beside 'weight', its name"
    name = description["weight"]
    if not isinstance(name, ir.StringAttr) or not name.value or "\0" in name.value:
        return "'weight' is a string that is not empty, the weight's name"
    return weight_fault(name.value, declared)


def weight_fault(name: str, declared: ir.Type) -> str | None:
    """What keeps a type from being a weight's, or None."""
    if isinstance(declared, ir.RankedTensorType):
        is_static = declared.has_static_shape
    elif isinstance(declared, ir.MemRefType):
        is_static = declared.has_static_shape
        if is_static and declared != buffer_type(declared.shape, declared.element_type):
            return f"weight '{name}' is {declared}: weights are packed, row by row"
    else:
        return f"weight '{name}' is {declared}: weights are buffers"
    if not is_static:
        return f"weight '{name}' is {declared}: the sizes of weights are fixed"
    return None


def _wrong_sizes(sizes: ir.Attribute, declared: ir.MemRefType) -> str | None:
    if not isinstance(sizes, ir.ArrayAttr) or len(sizes) != declared.rank:
        return f"'sizes' has one entry a dim of {declared}, {declared.rank}; it is {sizes}"
    for axis, size in enumerate(sizes):
        static = declared.shape[axis]
        if isinstance(size, ir.IntegerAttr):
            if static == DYNAMIC:
                return (
                    f"dim {axis} is open in {declared}, so its size is a name, not {size.value}; "
                    "a number goes into the type"
                )
            if size.value != static:
                return f"dim {axis} of {declared} has size {static}, not {size.value}"
        elif isinstance(size, ir.StringAttr) and size.value:
            if static != DYNAMIC:
                return (
                    f"dim {axis} of {declared} has size {static}, so 'sizes' has that number, not "
                    f"the name '{size.value}'; a name is for a dim the type leaves open (?)"
                )
        else:
            return f"a size is a number or a name, not {size}"
    return None
