"""The attribute `inputs` of hir.program: names, sizes and alignment, weights and state."""

from ..mlir import ir
from .layout import DYNAMIC, buffer_type
from .refusal import refuse

_KEYS = (
    *("name", "sizes", "alignment", "written", "spread", "unsigned"),
    *("weight", "state", "zero_init"),
)
# What an input is called by; only those of `name` are the caller's to pass.
_NAMES = ("name", "weight", "state")


def input_name(program: ir.Operation, number: int) -> str:
    """Returns what an input of a hir.program is called: its name, a weight's or state's, or its
    number.
    """
    described: list[ir.Attribute] = []
    if "inputs" in program.attributes:
        described = list(ir.ArrayAttr(program.attributes["inputs"]))
    for key in _NAMES:
        if number < len(described) and key in ir.DictAttr(described[number]):
            return ir.StringAttr(ir.DictAttr(described[number])[key]).value
    return f"input{number}"


def is_weight(value: ir.Value) -> bool:
    """Returns whether a buffer is a weight of its program."""
    return _is_described(value, "weight")


def is_state(value: ir.Value) -> bool:
    """Returns whether a buffer is state of its program."""
    return _is_described(value, "state")


def is_unsigned(value: ir.Value) -> bool:
    """Returns whether the caller has an input's signless integers without a sign."""
    return _is_described(value, "unsigned")


def _is_described(value: ir.Value, key: str) -> bool:
    if not isinstance(value, ir.BlockArgument):
        return False
    program = value.owner.owner.operation
    if program.name != "hir.program" or "inputs" not in program.attributes:
        return False
    return key in ir.DictAttr(ir.ArrayAttr(program.attributes["inputs"])[value.arg_number])


def are_input_descriptions(op: ir.OpView, declared: ir.FunctionType) -> bool:
    """Returns whether `inputs`, where it is there, describes the inputs; says what is wrong where
    not.
    """
    if "inputs" not in op.attributes:
        return True
    inputs = op.attributes["inputs"]
    if not isinstance(inputs, ir.ArrayAttr):
        return refuse(op, f"'inputs' is an array of dictionaries, one an input, not {inputs}")
    types = declared.inputs
    if len(inputs) != len(types):
        return refuse(op, f"'inputs' has one dictionary an input, {len(types)}, not {len(inputs)}")
    seen: dict[tuple[str, str], int] = {}
    for number, description in enumerate(inputs):
        reason = _wrong(description, types[number])
        if reason is not None:
            return refuse(op, f"'inputs' of input {number}: {reason}")
        # A caller's input may be called as a weight is.
        key = next(key for key in _NAMES if key in ir.DictAttr(description))
        name = ir.StringAttr(ir.DictAttr(description)[key]).value
        if (key, name) in seen:
            both = f"inputs {seen[key, name]} and {number} are both"
            if key != "name":
                what = "the weight" if key == "weight" else "the state"
                return refuse(op, f"{both} {what} '{name}'; one input is enough")
            return refuse(op, f"{both} called '{name}'; give each its own")
        seen[key, name] = number
    return True


def _wrong(description: ir.Attribute, declared: ir.Type) -> str | None:
    if not isinstance(description, ir.DictAttr):
        return f"a dictionary is wanted, with name, sizes, alignment; it is {description}"
    for entry in description:
        if entry.name not in _KEYS:
            return f"the entries are {', '.join(_KEYS)}; there is no '{entry.name}'"
    for key in ("weight", "state"):
        if key in description:
            return _wrong_held(description, declared, key)
    if "zero_init" in description:
        return "'zero_init' says how 'state' begins, and this is none"
    name = description["name"] if "name" in description else None  # noqa: SIM401
    if not isinstance(name, ir.StringAttr) or not name.value:
        return "'name' is a string that is not empty"
    if "unsigned" in description and not is_signless(declared):
        return f"'unsigned' is for signless integers, not for {declared}"
    if not isinstance(declared, ir.MemRefType):
        extra = [key for key in ("sizes", "alignment", "written", "spread") if key in description]
        return f"'{extra[0]}' is for buffers, not for {declared}: leave it out" if extra else None
    if "sizes" in description:
        reason = _wrong_sizes(description["sizes"], declared)
        if reason is not None:
            return reason
    for key in ("written", "unsigned"):
        if key in description and not isinstance(description[key], ir.UnitAttr):
            return f"'{key}' has no value, not {description[key]}"
    if "alignment" in description:
        value = description["alignment"]
        bytes_ = value.value if isinstance(value, ir.IntegerAttr) else 0
        if bytes_ <= 0 or bytes_ & (bytes_ - 1):
            return f"'alignment' is a power of two, in bytes, not {value}"
    return None


def is_signless(declared: ir.Type) -> bool:
    """Returns whether a value, or what a buffer holds, is a number of a signless integer type."""
    element = declared.element_type if isinstance(declared, ir.MemRefType) else declared
    return isinstance(element, ir.IntegerType) and element.is_signless and element.width > 1


def _wrong_held(description: ir.DictAttr, declared: ir.Type, key: str) -> str | None:
    """Returns what is wrong with a weight or a state."""
    allowed = (key, "spread") if key == "weight" else (key, "zero_init", "unsigned")
    extra = [entry.name for entry in description if entry.name not in allowed]
    if extra:
        return f"a {key} has no '{extra[0]}' beside '{key}', its name"
    name = description[key]
    if not isinstance(name, ir.StringAttr) or not name.value or "\0" in name.value:
        return f"'{key}' is a string that is not empty, the {key}'s name"
    if "zero_init" in description and not isinstance(description["zero_init"], ir.UnitAttr):
        return f"'zero_init' has no value, not {description['zero_init']}"
    if "unsigned" in description and not is_signless(declared):
        return f"'unsigned' is for signless integers, not for {declared}"
    return weight_fault(name.value, declared, key)


def weight_fault(name: str, declared: ir.Type, key: str = "weight") -> str | None:
    """What keeps a type from being a weight's or a state's, or None."""
    which = f"{key} '{name}' is {declared}"
    plural = "weights are" if key == "weight" else "state is"
    if isinstance(declared, ir.RankedTensorType):
        is_static = declared.has_static_shape
    elif isinstance(declared, ir.MemRefType):
        is_static = declared.has_static_shape
        if is_static and declared != buffer_type(declared.shape, declared.element_type):
            return f"{which}: {plural} packed, row by row"
    else:
        return f"{which}: {plural} {'buffers' if key == 'weight' else 'in buffers'}"
    if not is_static:
        return f"{which}: the sizes of {'weights' if key == 'weight' else 'state'} are fixed"
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
