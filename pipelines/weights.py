"""Weights and state: inputs that nobody passes, and where each lies in the memory they share.

A function on tensors names one by the argument attribute `hirc.weight` or `hirc.state`, a
hir.program by `weight` or `state` in its `inputs`. All weights of a linked file lie in one piece of
memory on each device, at offsets that the compiler chooses. Those are kept as the header of a
safetensors file, which the program also compares with the header of the file that it gets the
values from. State is what programs write to: each instance of the linked file has one piece of
memory for it. The values that it begins with are weights of the same names, or zeros.

Where all programs over a mesh divide a weight alike, a device has its part of it alone, and so of
state. Parts then lie elsewhere in a device's memory than wholes do in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from hashlib import sha256
from itertools import accumulate
from math import prod
from typing import Any

from ..dialects.hir.element_types import ELEMENT_TYPES
from ..dialects.hir.mesh import MESH, SPREAD, mesh_fault, mesh_of_shape, read_spreads
from ..dialects.hir.program_inputs import weight_fault
from ..dialects.mlir import ir
from ..dialects.records import dataclass

MARK = "hirc.weight"
STATE_MARK = "hirc.state"
ZERO_MARK = "hirc.zero_init"
# Every weight begins at a multiple of it, as an allocation does.
ALIGNMENT = 256
DIGEST = "hirc.digest"
# Matrix products read weights of 16 bits as if their rows were a multiple of it
# (products/padded_sizes.py): there is memory behind them, of whichever contents.
_ROWS, _MANY_ROWS = 8, 64
# The support library copies parts of so many dims (STRIDED_MAX_RANK).
_MOST_DIMS = 64

LAYOUT = "hirc.weights"
_METADATA = "__metadata__"
# What the safetensors format calls MLIR's element types.
_DTYPES = {
    element.name: element.safetensors
    for element in ELEMENT_TYPES.values()
    if element.safetensors is not None
}


class WeightFault(Exception):
    """A weight is declared wrongly, by `op`."""

    def __init__(self, op: ir.Operation, message: str) -> None:
        super().__init__(message)
        self.op = op
        self.message = message


class Role(StrEnum):
    """What an input that nobody passes is: read only, or state, which begins as zeros or does not.

    State that does not is the state's first value as a weight, too.
    """

    WEIGHT = "weight"
    STATE = "state"
    ZEROS = "state that begins as zeros"


@dataclass(frozen=True)
class Weight:
    """A weight's or a state's name and type.

    `dtype` is the element type as the safetensors format calls it; `element` what callers see of a
    state, as MLIR calls it, which may be without the sign that the program computes with. `cuts`
    are, for each axis of the mesh, its size and the dim that it divides (-1: none); there are none
    where every device has all of it.
    """

    name: str
    dtype: str
    sizes: tuple[int, ...]
    bytes: int
    element: str = ""
    role: Role = Role.WEIGHT
    cuts: tuple[tuple[int, int], ...] = ()

    @property
    def text(self) -> str:
        sizes = f"{self.dtype} [{', '.join(map(str, self.sizes))}]"
        if self.role is Role.WEIGHT:
            return sizes
        parts = "".join(f", dim {dim} over {size} devices" for size, dim in self.cuts if dim >= 0)
        return f"{self.role}, {sizes}{parts}"

    @property
    def part(self) -> Weight:
        """Returns what a device has of it, as a weight of its own."""
        sizes, bytes_ = list(self.sizes), self.bytes
        for size, dim in self.cuts:
            if dim >= 0:
                sizes[dim] //= size
                bytes_ //= size
        return replace(self, sizes=tuple(sizes), bytes=bytes_, cuts=())


@dataclass(frozen=True)
class WeightLayout:
    """Weights and their offsets, from the first byte on.

    `bytes` is what all take. Where devices have parts, `parts_places` are the offsets in a
    device's memory, and `parts_bytes` what that takes. `digest` says which values belong to the
    layout, "" where any do.
    `file` is the name of the safetensors file beside the linked file, "" where there is none.
    `is_embedded` says whether the linked file holds the values itself. `states` lie one after the
    other in memory of their own.
    """

    weights: tuple[Weight, ...]
    offsets: Mapping[str, int]
    bytes: int
    digest: str = ""
    file: str = ""
    is_embedded: bool = False
    states: tuple[Weight, ...] = ()
    parts_places: Mapping[str, int] | None = None
    parts_bytes: int = 0

    @property
    def places(self) -> Mapping[str, int]:
        """The offset of each weight, or of the part that a device has, in a device's memory."""
        return self.offsets if self.parts_places is None else self.parts_places

    @property
    def room(self) -> int:
        """The bytes of a device's memory."""
        return self.bytes if self.parts_places is None else self.parts_bytes

    @property
    def divided(self) -> set[str]:
        """The names of the weights and states of which a device has a part."""
        return {each.name for each in (*self.weights, *self.states) if each.cuts}

    @property
    def processes(self) -> int:
        """How many processes, a device each, have parts of what is divided."""
        values = (*self.weights, *self.states)
        return max((prod(size for size, _ in each.cuts) for each in values), default=1)

    @property
    def state_offsets(self) -> list[int]:
        """The offset of each state, and behind them the bytes of all."""
        return [0, *accumulate(_aligned(state.part.bytes) for state in self.states)]

    @property
    def header(self) -> str:
        """The header of a safetensors file with these offsets."""
        entries: dict[str, Any] = {_METADATA: {DIGEST: self.digest}} if self.digest else {}
        for weight in self.weights:
            start = self.offsets[weight.name]
            entries[weight.name] = {
                "dtype": weight.dtype,
                "shape": list(weight.sizes),
                "data_offsets": [start, start + weight.bytes],
            }
        return json.dumps(entries, separators=(",", ":"), ensure_ascii=False)

    @property
    def key(self) -> str:
        """What tells this layout, with its values, from others in names of symbols."""
        text = f"{self.header}\0{self.file}\0{self.is_embedded}\0{self.states}"
        if self.parts_places is not None:
            text += f"\0{self._parts}"
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def data_symbol(self) -> str:
        """The symbol of the values, where they are embedded."""
        return f"hirc_weights_data_{self.key}"

    @property
    def file_symbol(self) -> str:
        """The symbol of the name of the file beside the linked one. A link may say another name."""
        return f"hirc_weights_file_{self.key}"

    @property
    def _parts(self) -> str:
        cuts = {weight.name: weight.cuts for weight in self.weights if weight.cuts}
        noted = {"cuts": cuts, "places": self.parts_places, "bytes": self.parts_bytes}
        return json.dumps(noted, ensure_ascii=False)

    def write(self, module: ir.Operation) -> None:
        """Notes the layout at a module."""
        with module.context:
            entries: dict[str, ir.Attribute] = {
                "header": ir.StringAttr.get(self.header),
                "bytes": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.bytes),
                "file": ir.StringAttr.get(self.file),
            }
            if self.is_embedded:
                entries["embedded"] = ir.UnitAttr.get()
            if self.parts_places is not None:
                entries["parts"] = ir.StringAttr.get(self._parts)
            if self.states:
                states = [asdict(state) for state in self.states]
                entries["states"] = ir.StringAttr.get(json.dumps(states, ensure_ascii=False))
            module.attributes[LAYOUT] = ir.DictAttr.get(entries)


def read_layout(module: ir.Operation) -> WeightLayout | None:
    """Returns the layout noted at a module, or None."""
    if LAYOUT not in module.attributes:
        return None
    noted = ir.DictAttr(module.attributes[LAYOUT])
    entries: dict[str, Any] = json.loads(ir.StringAttr(noted["header"]).value)
    metadata = entries.pop(_METADATA, {})
    parts: dict[str, Any] = (
        json.loads(ir.StringAttr(noted["parts"]).value) if "parts" in noted else {}
    )
    weights: list[Weight] = []
    offsets: dict[str, int] = {}
    for name, entry in entries.items():
        start, end = entry["data_offsets"]
        cuts = _read_cuts(parts.get("cuts", {}).get(name, ()))
        sizes = tuple(entry["shape"])
        weights.append(Weight(name, entry["dtype"], sizes, end - start, cuts=cuts))
        offsets[name] = start
    return WeightLayout(
        tuple(weights),
        offsets,
        ir.IntegerAttr(noted["bytes"]).value,
        metadata.get(DIGEST, ""),
        ir.StringAttr(noted["file"]).value,
        "embedded" in noted,
        _read_states(ir.StringAttr(noted["states"]).value if "states" in noted else "[]"),
        parts.get("places"),
        parts.get("bytes", 0),
    )


def layout_fault(module: ir.Operation) -> str | None:
    """Returns what is wrong with the layout that a program brings with it, or None."""
    try:
        layout = read_layout(module)
        if layout is None:
            return None
        values = (*layout.weights, *layout.states)
        places = {**layout.offsets, **layout.places}
        ends = [layout.offsets[each.name] + each.bytes for each in layout.weights]
        numbers = [layout.bytes, layout.parts_bytes, *places.values()]
        for each in values:
            numbers += [each.bytes, *each.sizes, *(size for size, _ in each.cuts)]
            if each.dtype not in _DTYPES.values():
                return f"'{each.dtype}' is no element type"
            if any(not -1 <= dim < len(each.sizes) for _, dim in each.cuts):
                return f"what divides '{each.name}' is none of its dims"
        if any(type(number) is not int or number < 0 for number in numbers):
            return "a size or an offset is no number"
        if set(layout.places) != {each.name for each in layout.weights}:
            return "it has places of other weights"
        if any(end > layout.bytes for end in ends):
            return "a weight goes beyond the end"
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        return str(error)
    return None


def divided_weights(function: ir.Operation) -> set[str]:
    """Returns the weights and states of which devices have parts, by the layout of the module that
    a function or program is of.
    """
    module = function.parent
    layout = None if module is None else read_layout(module.operation)
    return set() if layout is None else layout.divided


def _read_states(text: str) -> tuple[Weight, ...]:
    entries: list[dict[str, Any]] = json.loads(text)
    for entry in entries:
        sizes, cuts = tuple(entry["sizes"]), _read_cuts(entry["cuts"])
        entry.update(sizes=sizes, role=Role(entry["role"]), cuts=cuts)
    return tuple(Weight(**entry) for entry in entries)


def _read_cuts(given: Iterable[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((size, dim) for size, dim in given)


def has_weights(module: ir.Operation) -> bool:
    """Returns whether a function or program of the module says that an input is a
    weight or state.
    """
    return any(
        any(True for _ in _named(op.operation))
        for op in module.regions[0].blocks[0]
        if op.operation.name in ("func.func", "hir.program")
    )


def declared_weights(module: ir.Operation, programs: Sequence[ir.Operation]) -> list[Weight]:
    """Returns the weights and states of a module, each once. `programs` are the functions that
    become programs.

    Raises WeightFault where one is declared wrongly, or twice and differently.
    """
    found: dict[str, Weight] = {}
    for child in module.regions[0].blocks[0]:
        op = child.operation
        if op.name not in ("func.func", "hir.program"):
            continue
        seen: dict[str, int] = {}
        for number, name, kind, role in _named(op):
            weight = _declared(op, number, name, kind, role, programs)
            if seen.setdefault(weight.name, number) != number:
                raise WeightFault(
                    op,
                    f"arguments {seen[weight.name]} and {number} are both the {_noun(role)} "
                    f"'{weight.name}'; one is enough",
                )
            other = found.get(weight.name, weight)
            agreed = agreed_weight(weight, other)
            if agreed is None:
                raise WeightFault(
                    op,
                    f"{_noun(role)} '{name}' is {weight.text} here and {other.text} elsewhere: "
                    f"{_noun(role)}s of one name are one",
                )
            found[weight.name] = agreed
    return list(found.values())


def agreed_weight(one: Weight, other: Weight) -> Weight | None:
    """Returns the weight that two programs have under one name; None where theirs differ.

    One that they divide differently is whole on every device.
    """
    if one != other and one.role is Role.WEIGHT:
        one, other = replace(one, cuts=()), replace(other, cuts=())
    return one if one == other else None


def weights_of_program(program: ir.Operation) -> dict[int, Weight]:
    """Returns the inputs of a hir.program that are weights or state, by their number."""
    return {
        number: _declared(program, number, name, kind, role, ())
        for number, name, kind, role in _named(program)
    }


def lay_out(weights: Iterable[Weight], tied: Mapping[str, str] | None = None) -> WeightLayout:
    """Places weights; `tied` names, for one that is another one's memory, the other.

    Those that fill whole multiples of ALIGNMENT come first and have no gaps, so that a file, in
    which there may be none, can hold the same. Those after them have the same order in a file.
    """
    tied = tied or {}
    all_given = list(weights)
    given = [weight for weight in all_given if weight.role is not Role.ZEROS]
    states = tuple(weight for weight in all_given if weight.role is not Role.WEIGHT)
    first = {weight.name: tied.get(weight.name, weight.name) for weight in given}
    own = [weight for weight in given if first[weight.name] == weight.name]
    offsets, most = _placed(own)
    offsets = {weight.name: offsets[first[weight.name]] for weight in given}
    own.sort(key=lambda weight: offsets[weight.name])
    others = [weight for weight in given if weight not in own]
    layout = WeightLayout((*own, *others), offsets, most, states=states)
    if not any(weight.cuts for weight in given):
        return layout
    # One that is divided otherwise than what it is tied to is a memory of its own there.
    held = {(first[weight.name], weight.cuts): weight.part for weight in given}
    places, most = _placed(list(held.values()))
    of = {weight.name: places[held[first[weight.name], weight.cuts].name] for weight in given}
    return replace(layout, parts_places=of, parts_bytes=most)


def _placed(own: Sequence[Weight]) -> tuple[dict[str, int], int]:
    """Returns the offset of each weight, and the bytes that all take."""
    offsets: dict[str, int] = {}
    end = most = 0
    for weight in sorted(own, key=lambda weight: -_natural_alignment(weight.bytes)):
        offsets[weight.name] = end
        most = max(most, end + _room(weight))
        end += _aligned(weight.bytes)
    end = max(end, -(-most // ALIGNMENT) * ALIGNMENT)
    return offsets, max(end, ALIGNMENT)


def _aligned(size: int) -> int:
    """Returns the bytes that a weight or a state takes, with the gap behind it."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _noun(role: Role) -> str:
    return "weight" if role is Role.WEIGHT else "state"


def _room(weight: Weight) -> int:
    """Returns the bytes that are to be there from the weight's first one on."""
    rows = weight.sizes[0] if weight.sizes else 0
    if weight.dtype not in ("F16", "BF16") or rows < _MANY_ROWS:
        return weight.bytes
    return weight.bytes // rows * -(-rows // _ROWS) * _ROWS


def _natural_alignment(size: int) -> int:
    """Returns the largest power of two, up to ALIGNMENT, that divides a number of bytes."""
    return min(size & -size, ALIGNMENT) if size else ALIGNMENT


def _named(op: ir.Operation) -> Iterable[tuple[int, str | None, ir.Type, Role]]:
    """Number, name, type and role of each weight and state of a function or program.

    There is no name where it is wrong.
    """
    kinds = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs
    is_program = op.name == "hir.program"
    attribute = "inputs" if is_program else "arg_attrs"
    if attribute not in op.attributes:
        return
    keys = ("weight", "state", "zero_init") if is_program else (MARK, STATE_MARK, ZERO_MARK)
    for number, each in enumerate(ir.ArrayAttr(op.attributes[attribute])):
        entries = ir.DictAttr(each)
        weight, state, zero = (key in entries for key in keys)
        if not weight and not state:
            if zero:
                raise WeightFault(op, f"{ZERO_MARK} of argument {number}, which is no {STATE_MARK}")
            continue
        if weight and state:
            raise WeightFault(
                op, f"argument {number} is {MARK} and {STATE_MARK}: what a program writes is state"
            )
        name = entries[keys[0] if weight else keys[1]]
        role = Role.WEIGHT if weight else Role.ZEROS if zero else Role.STATE
        yield number, name.value if isinstance(name, ir.StringAttr) else None, kinds[number], role


def _is_unsigned(op: ir.Operation, number: int) -> bool:
    """Returns whether callers see the elements of a state without a sign."""
    is_program = op.name == "hir.program"
    given = ir.ArrayAttr(op.attributes["inputs" if is_program else "arg_attrs"])
    return ("unsigned" if is_program else "hir.unsigned") in ir.DictAttr(given[number])


def _declared(
    op: ir.Operation,
    number: int,
    name: str | None,
    kind: ir.Type,
    role: Role,
    programs: Sequence[ir.Operation],
) -> Weight:
    noun = _noun(role)
    if not name or "\0" in name or name == _METADATA:
        raise WeightFault(op, f"hirc.{noun} of argument {number} is the {noun}'s name, a string")
    if op.name == "func.func":
        _check_function(op, number, name, kind, noun, programs)
    assert isinstance(kind, ir.ShapedType)
    element = str(kind.element_type)
    if element not in _DTYPES:
        raise WeightFault(
            op, f"{noun} '{name}' is {kind}: no safetensors file holds {element}; weights and "
            f"state are of {', '.join(_DTYPES)}",
        )  # fmt: skip
    sizes = tuple(kind.shape)
    bytes_ = prod(sizes) * ELEMENT_TYPES[element].bytes
    # Weights of types that a file holds alike are alike.
    seen = "" if noun == "weight" else f"u{element}" if _is_unsigned(op, number) else element
    cuts = _declared_cuts(op, number, sizes)
    return Weight(name, _DTYPES[element], sizes, bytes_, seen, role, cuts)


def _declared_cuts(
    op: ir.Operation, number: int, sizes: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Returns how a mesh's axes divide an argument; what is declared wrongly is refused later."""
    is_program = op.name == "hir.program"
    over = "mesh" if is_program else MESH
    if over not in op.attributes or mesh_fault(op.attributes[over]) is not None:
        return ()
    mesh = mesh_of_shape(tuple(ir.DenseI64ArrayAttr(op.attributes[over])))
    entries = ir.DictAttr(
        ir.ArrayAttr(op.attributes["inputs" if is_program else "arg_attrs"])[number]
    )
    said = "spread" if is_program else SPREAD
    if said not in entries:
        return ()
    spreads = read_spreads(entries[said], len(sizes), len(mesh.shape))
    if isinstance(spreads, str):
        return ()
    spreads = mesh.normal(spreads)
    if any(size % mesh.parts(spreads, dim) for dim, size in enumerate(sizes)):
        return ()
    if all(each.axis is None for each in spreads) or len(sizes) > _MOST_DIMS:
        return ()
    return tuple(
        (size, -1 if each.axis is None else each.axis)
        for size, each in zip(mesh.shape, spreads, strict=True)
    )


def _check_function(
    op: ir.Operation,
    number: int,
    name: str,
    kind: ir.Type,
    noun: str,
    programs: Sequence[ir.Operation],
) -> None:
    function = ir.StringAttr(op.attributes["sym_name"]).value
    if op not in programs:
        raise WeightFault(
            op, f"@{function} is no function on tensors, and argument {number} cannot be {noun} "
            f"'{name}'",
        )  # fmt: skip
    if "sym_visibility" in op.attributes:
        raise WeightFault(
            op, f"@{function} is private, and its argument {number} cannot be {noun} '{name}': "
            f"give the public function that calls it the {noun}, to pass it on",
        )  # fmt: skip
    reason = weight_fault(name, kind, noun)
    if reason is not None:
        raise WeightFault(op, reason)
