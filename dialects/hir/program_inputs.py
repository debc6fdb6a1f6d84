"""The attribute `inputs` of hir.program: names, sizes and alignment of the inputs."""

from ..mlir import ir
from .layout import DYNAMIC
from .refusal import refuse

_KEYS = ("name", "sizes", "alignment")


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
    seen: dict[str, int] = {}
    for number, description in enumerate(inputs):
        reason = _wrong(description, declared.inputs[number])
        if reason is not None:
            return refuse(op, f"'inputs' of input {number}: {reason}")
        name = ir.StringAttr(ir.DictAttr(description)["name"]).value
        if name in seen:
            return refuse(
                op,
                f"inputs {seen[name]} and {number} are both called '{name}'; give each its own",
            )
        seen[name] = number
    return True


def _wrong(description: ir.Attribute, declared: ir.Type) -> str | None:
    if not isinstance(description, ir.DictAttr):
        return f"a dictionary is wanted, with name, sizes, alignment; it is {description}"
    for entry in description:
        if entry.name not in _KEYS:
            return f"the entries are {', '.join(_KEYS)}; there is no '{entry.name}'"
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
