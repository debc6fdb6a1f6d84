"""What a program takes and gives: names, types, sizes, and where outputs come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ....dialects.hir.element_types import ELEMENT_TYPES
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...host.types import DYNAMIC, element_bytes, strides_and_offset
from ...pass_base import fail
from ..lowering.origins import Origin
from ..lowering.signature import input_descriptions, output_descriptions

OPEN = DYNAMIC

# Attributes of a body whose last arguments are the addresses of its weights and its state. The
# latter has the numbers of the states.
WITH_WEIGHTS = "hir.weights"
WITH_STATE = "hir.state"

# Type codes and bits of DLPack, of the element types of Host IR and of those that only GPU programs
# have.
_DLPACK = {
    **{element.name: element.dlpack for element in ELEMENT_TYPES.values()},
    "f8E3M4": (7, 8),
    "f8E4M3": (8, 8),
    "f8E4M3B11FNUZ": (9, 8),
    "f8E4M3FNUZ": (11, 8),
    "f8E5M2FNUZ": (13, 8),
    "f8E8M0FNU": (14, 8),
    "index": (0, 64),
}

# Where an output's memory comes from, by the number the support library knows it by: the program
# allocates it, or takes the caller's; it is an input; it is part of something else. An input is
# "input" where the program writes to it.
ORIGINS = {"allocated": 0, "input": 1, "view": 2}


@dataclass(frozen=True)
class Value:
    """An input or output as the program declares it.

    `element` is what the caller has, unsigned where the program takes its bits. `sizes` holds OPEN
    where a size is known at run time only, `strides` likewise; None are the strides of packed rows.
    `names` are the sizes' names, "" where there is none.
    """

    name: str
    kind: ir.Type
    element: ir.Type
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    strides: tuple[int, ...] | None
    offset: int
    alignment: int
    origin: str
    origin_input: int

    @property
    def is_buffer(self) -> bool:
        return isinstance(self.kind, ir.MemRefType)

    @property
    def element_bytes(self) -> int:
        return element_bytes(self.element)

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def dtype(self) -> int:
        """The four bytes of DLDataType as one number: code, bits, and one lane."""
        return dtype_of(str(self.element))

    @property
    def rank_and_dtype(self) -> int:
        """The eight bytes of a DLTensor's rank and type as one number."""
        return self.rank | self.dtype << 32

    @property
    def is_written(self) -> bool:
        """Whether the program writes to this input."""
        return self.origin == "input"

    @property
    def can_be_given(self) -> bool:
        """Whether the caller may hand in the memory of this output."""
        return self.is_buffer and self.origin == "allocated"

    @property
    def text(self) -> str:
        """The type in messages: `2x?xf32` with the sizes' names in place of what is open."""
        sizes = [
            str(size) if size != OPEN else name or "?"
            for size, name in zip(self.sizes, self.names, strict=True)
        ]
        return "x".join([*sizes, str(self.element)])


@dataclass(frozen=True)
class Signature:
    """A program's name, inputs and outputs, and the function that runs it."""

    name: str
    body: ir.Operation
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    @property
    def takes_given(self) -> bool:
        """Whether the body has an argument for each buffer output that may be handed in."""
        return len(self.argument_types) > len(self.inputs) + 1

    @property
    def has_weights(self) -> bool:
        """Whether the body takes the address of its weights, after the stream."""
        return WITH_WEIGHTS in self.body.attributes

    @property
    def has_state(self) -> bool:
        """Whether the body takes the address of its state, as its last argument."""
        return WITH_STATE in self.body.attributes

    @property
    def states(self) -> list[int]:
        """The numbers of its states among those of the module."""
        return (
            list(ir.DenseI64ArrayAttr(self.body.attributes[WITH_STATE])) if self.has_state else []
        )

    @property
    def argument_types(self) -> list[ir.Type]:
        """The types of the inputs, the outputs handed in, and the stream."""
        types = list(self.body.regions[0].blocks[0].arguments.types)
        return types[: len(types) - self.has_weights - self.has_state]

    @property
    def symbols(self) -> tuple[str, str]:
        """The names of its C function and of the constant that describes it."""
        return f"hirc_program_{self.name}", f"hirc_program_{self.name}_info"


def dtype_of(element: str) -> int:
    """Returns the four bytes of DLDataType of an element type as one number: code, bits, and one
    lane.
    """
    code, bits = _DLPACK[element]
    return code | bits << 8 | 1 << 16


def read_signature(body: ir.Operation, name: str) -> Signature:
    """Returns the signature that a body's `hir.inputs` and `hir.outputs` describe."""
    inputs = _values(body, "hir.inputs", "input")
    outputs = _values(body, "hir.outputs", "output")
    for value in outputs:
        if not 0 <= value.origin_input < max(len(inputs), 1):
            fail(body, f"'{value.name}' lies in input {value.origin_input}, of {len(inputs)}")
    given = [value for value in outputs if value.is_buffer]
    held = sum(each in body.attributes for each in (WITH_WEIGHTS, WITH_STATE))
    count = len(body.regions[0].blocks[0].arguments) - held
    if count not in (len(inputs) + 1, len(inputs) + len(given) + 1):
        fail(
            body,
            f"{count} arguments, where {len(inputs)} inputs, {len(given)} handed-in outputs and "
            "the stream are described",
        )
    if count == len(inputs) + 1:
        outputs = tuple(_not_given(value) for value in outputs)
    return Signature(name, body, inputs, outputs)


def read_values(program: ir.Operation) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Returns the inputs and outputs of a hir.program, as its body will describe them."""
    kind = ir.FunctionType(ir.TypeAttr(program.attributes["function_type"]).value)
    nowhere = [Origin("view")] * len(kind.results)
    with program.location:
        inputs = input_descriptions(program)
        outputs = output_descriptions(program, nowhere)
        taken = tuple(_each(program, inputs, "input"))
        return taken, tuple(_each(program, outputs, "output"))


def first_places(
    inputs: Sequence[Value], outputs: Sequence[Value]
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Returns for each input, and for each output, where its open sizes' names stand first: pairs
    of an input and an axis, 0 and -1 for a size that has no such place; nothing where none has. No
    name is an output's first.
    """
    known: dict[str, tuple[int, int]] = {}
    found: list[tuple[int, ...]] = []
    for place, value in enumerate([*inputs, *outputs]):
        pairs = [(0, -1)] * value.rank
        for axis, (size, name) in enumerate(zip(value.sizes, value.names, strict=True)):
            if size != OPEN or not name:
                continue
            if name in known:
                pairs[axis] = known[name]
            elif place < len(inputs):
                known[name] = (place, axis)
        has_one = any(axis >= 0 for _, axis in pairs)
        found.append(tuple(chain.from_iterable(pairs)) if has_one else ())
    return found[: len(inputs)], found[len(inputs) :]


def is_describable(kind: ir.Type) -> bool:
    """Returns whether a value of the type can be an input or output."""
    if isinstance(kind, ir.MemRefType):
        return str(kind.element_type) in _DLPACK and strides_and_offset(kind) is not None
    return str(kind) in _DLPACK and not isinstance(kind, ir.ComplexType)


def _not_given(value: Value) -> Value:
    return replace(value, origin="view") if value.origin == "allocated" else value


def check_described(body: ir.Operation) -> None:
    """Ends the pass where a body does not describe its inputs and outputs as hirc does."""
    _values(body, "hir.inputs", "input")
    _values(body, "hir.outputs", "output")


def _values(body: ir.Operation, attribute: str, default: str) -> tuple[Value, ...]:
    if attribute not in body.attributes:
        fail(body, f"it has no {attribute}, which describe a program's values for its callers")
    try:
        return tuple(_each(body, list(ir.ArrayAttr(body.attributes[attribute])), default))
    except (TypeError, ValueError) as error:
        fail(body, f"{attribute} are not as hirc writes them: {error}")


def _each(body: ir.Operation, entries: Sequence[ir.Attribute], default: str) -> Iterator[Value]:
    for place, entry in enumerate(entries):
        name = f"{default}{place}"
        members = {item.name: item.attr for item in ir.DictAttr(entry)}
        if not isinstance(members.get("type"), ir.TypeAttr):
            fail(body, f"{name} is described without its type")
        for key in ("weight", "state"):
            if key in members and not isinstance(members[key], ir.StringAttr):
                fail(body, f"the {key} that {name} is has no name")
        yield _value(body, members, name)


def _value(body: ir.Operation, entry: dict[str, ir.Attribute], default: str) -> Value:
    kind = ir.TypeAttr(entry["type"]).value
    name = ir.StringAttr(entry["name"]).value if "name" in entry else default
    if not is_describable(kind):
        fail(body, f"'{name}' is of type {kind}, which no caller can pass")
    sizes, names, strides, offset = [], [], None, 0
    if isinstance(kind, ir.MemRefType):
        sizes, names = list(kind.shape), [""] * kind.rank
        if not _is_identity(kind):
            layout = strides_and_offset(kind)
            assert layout is not None
            strides, offset = tuple(layout[0]), layout[1]
    described = list(ir.ArrayAttr(entry["sizes"])) if "sizes" in entry else []
    if len(described) > len(sizes):
        fail(body, f"'{name}' is described with {len(described)} sizes, of {len(sizes)} dims")
    for axis, size in enumerate(described):
        if isinstance(size, ir.StringAttr):
            names[axis] = size.value
        elif sizes[axis] == OPEN:
            sizes[axis] = ir.IntegerAttr(size).value
    alignment = ir.IntegerAttr(entry["alignment"]).value if "alignment" in entry else 1
    origin = ir.StringAttr(entry["origin"]).value if "origin" in entry else "allocated"
    if origin not in ORIGINS:
        fail(body, f"'{name}' is described as '{origin}'; there are {', '.join(ORIGINS)}")
    element = kind.element_type if isinstance(kind, ir.MemRefType) else kind
    if "unsigned" in entry and isinstance(element, ir.IntegerType):
        element = ir.IntegerType.get_unsigned(element.width)
    return Value(
        name=name,
        kind=kind,
        element=element,
        sizes=tuple(sizes),
        names=tuple(names),
        strides=strides,
        offset=offset,
        alignment=max(alignment, _element_alignment(kind)),
        origin="input" if "written" in entry else origin,
        origin_input=ir.IntegerAttr(entry["input"]).value if "input" in entry else 0,
    )


def _element_alignment(kind: ir.Type) -> int:
    """The bytes an element lies on: a complex number on its parts'."""
    element = kind.element_type if isinstance(kind, ir.MemRefType) else kind
    return element_bytes(element.element_type if isinstance(element, ir.ComplexType) else element)


def _is_identity(kind: ir.MemRefType) -> bool:
    return kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank))
