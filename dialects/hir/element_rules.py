"""Which element types the compute operations take, and which they give."""

from collections.abc import Sequence

from .element_types import ELEMENT_TYPES, ElementType
from .kinds import Gives, Kind, Operands


class ElementError(ValueError):
    """The operands' element types do not fit; the message says what would."""


SCALARS = "index, an integer or a float"


def takes(operands: Operands, element: ElementType) -> bool:
    """Returns whether a kind that takes `operands` takes this element type."""
    return {
        Operands.ANY: element.kind != "complex",
        Operands.NUMBER: element.is_float or element.is_integer,
        Operands.FLOAT: element.is_float,
        Operands.INTEGER: element.is_integer,
        Operands.BITS: element.is_integer or element.kind == "truth",
    }[operands]


def operand_element(
    buffers: Sequence[ElementType], scalars: Sequence[ElementType], given: ElementType | None = None
) -> ElementType:
    """Returns the one element type that the operands of an elementwise operation have or are
    converted to.

    The buffers' own; with scalars only, that of the result (`given`, None where it does not follow
    from the operands'); else the scalars'.
    """
    for operands in (buffers, [given] if given else [], scalars):
        if operands:
            if len(set(operands)) > 1:
                names = " and ".join(element.name for element in operands)
                raise ElementError(
                    f"operands have one element type, not {names}; "
                    "hir.set or hir.unary with kind cast converts"
                )
            return operands[0]
    raise ElementError("there is no operand")


def element_results(kind: Kind, element: ElementType) -> list[ElementType]:
    """The element types the kind may give for operands of `element`, the usual one first.

    Of kinds whose result is free (`cast`): every one but complex ones, the operands' own first.
    """
    if kind.gives == Gives.TRUTH:
        return [ELEMENT_TYPES["i1"]]
    if kind.gives == Gives.INDEX:
        return [ELEMENT_TYPES["i64"]]
    if kind.gives == Gives.CHOSEN:
        every = [each for each in ELEMENT_TYPES.values() if each.kind != "complex"]
        return [element, *(each for each in every if each != element)]
    if kind.gives == Gives.SUM and not element.is_float:
        return _sums(element)
    return [element]


def takes_for(kind: Kind) -> str:
    """Returns what the kind takes, for a message. Sums take i1 too."""
    also = " and i1" if kind.gives == Gives.SUM else ""
    return f"{kind.operands.value}{also}"


def kind_takes(kind: Kind, element: ElementType) -> bool:
    """Returns whether operands of the kind may be of `element`. Sums count i1."""
    if kind.gives == Gives.SUM and element.kind == "truth":
        return True
    return takes(kind.operands, element)


def product_results(element: ElementType) -> list[ElementType]:
    """Returns the element types that hir.matmul and hir.linear may give for operands
    of `element`.
    """
    if element.is_float:
        wider = {1: ["f32", "f16", "bf16"], 2: ["f32"]}.get(element.bytes, [])
        wider = ["f32"] if element.name == "tf32" else wider
    else:
        wider = [name for name in ("i32", "i64") if ELEMENT_TYPES[name].bytes > element.bytes]
    return [element, *(ELEMENT_TYPES[name] for name in wider)]


def _sums(element: ElementType) -> list[ElementType]:
    integers = [each for each in ELEMENT_TYPES.values() if each.is_integer]
    if element.kind == "truth":
        return integers  # i64 is the first
    wider = [each for each in integers if each.bytes > element.bytes]
    return [element, *sorted(wider, key=lambda each: each.kind != element.kind)]
