"""What MLIR's verifiers pass over in a program that was read, and what comes later dies of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import chain

from ..dialects.mlir import ir
from ..pipelines.body_names import CALLING
from ..pipelines.walking import operations_where
from ..pipelines.weights import LAYOUT, layout_fault
from .errors import InputError
from .session import position_of

# In an operation's numbers MLIR has it in the place of an operand.
_OPEN = -(1 << 63)
# Dialects whose operations take operands of type index in the places of such numbers alone.
_WITH_SIZES = ("tensor.", "memref.")

# Operations and attributes of arguments that name the type of what a pointer points to.
_POINTED_TO = re.compile(
    r"llvm\.(?:alloca|getelementptr|va_arg|byval|byref|sret|inalloca|preallocated|elementtype)\b"
)
# A division in an affine expression, and its number; parsers take any.
_DIVIDED = re.compile(r"\b(?:floordiv|ceildiv|mod) (?:0\b|-)")
_LISTS_OF_ATTRIBUTES = ("arg_attrs", "res_attrs")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_WORD = re.compile(r"[\w.!$?*-]+")
# The words of a type that LLVM has and of whose elements the size is known.
_OF_LLVM = re.compile(
    r"vector|packed|x|\d+|(?:\d+x)?(?:!llvm\.)?(?:ptr|array|struct|target|x86_amx|ppc_fp128)"
    r"|(?:\d+x)?(?:i\d+|bf16|f16|f32|f64|f80|f128)"
)


def refuse_unverified(module: ir.Operation, text: str | None) -> None:
    """Raises InputError for what no verifier looks at; `text` is None for bytecode."""
    if text is None or LAYOUT in text:
        _refuse_odd_layout(module)
    if text is None or CALLING in text:
        _refuse_odd_calling(module)
    if text is None or str(_OPEN) in text:
        _refuse_unmatched_sizes(module)
    if text is None or _POINTED_TO.search(text):
        _refuse_types_without_size(module)
    if text is None or re.search(r"\b(?:floordiv|ceildiv|mod)\b", text):
        _refuse_divisions(module)


def _refuse_first(
    module: ir.Operation,
    is_wrong: Callable[[ir.Operation], bool],
    message: Callable[[ir.Operation], str],
    hint: str,
) -> None:
    """Raises InputError for the module's first operation that is wrong."""
    found = operations_where(module, is_wrong)
    if found:
        raise InputError(
            message(found[0]),
            position=position_of(found[0].location),
            op=found[0].name,
            stage="parse",
            hint=hint,
        )


def _refuse_odd_layout(module: ir.Operation) -> None:
    """Refuses a layout of weights that is not as one stage wrote it for another."""
    fault = layout_fault(module)
    if fault is not None:
        raise InputError(
            f"{LAYOUT} of the module is not as hirc writes it: {fault}",
            position=position_of(module.location),
            op=module.name,
            stage="parse",
            hint="leave it out: hirc lays weights out itself",
        )


def _refuse_odd_calling(module: ir.Operation) -> None:
    """Refuses what is said of how Python calls a program, where it is not as the importer says."""
    _refuse_first(
        module,
        lambda op: CALLING in op.attributes and not _is_calling(op),
        lambda op: f"{CALLING} of '{op.name}' is not as hirc writes it",
        "leave it out: it is for programs that were imported",
    )


def _is_calling(op: ir.Operation) -> bool:
    text = op.attributes[CALLING]
    try:
        data = json.loads(text.value) if isinstance(text, ir.StringAttr) else None
    except ValueError:
        return False
    if not isinstance(data, dict) or not isinstance(data.get("inputs"), dict):
        return False
    parameters = data.get("parameters")
    return isinstance(parameters, list) and all(
        isinstance(each, dict) and {"name", "kind"} <= each.keys() for each in parameters
    )


def _refuse_unmatched_sizes(module: ir.Operation) -> None:
    """Refuses the number that stands for an operand, where there is no such operand.

    Printers read past the operands' end.
    """
    _refuse_first(
        module,
        _lacks_an_operand,
        lambda op: (
            f"'{op.name}' has {_OPEN} among its numbers, which stands for an operand that it lacks"
        ),
        "no offset, size or stride is so small",
    )


def _lacks_an_operand(op: ir.Operation) -> bool:
    if not op.name.startswith(_WITH_SIZES):
        return False
    attributes = [op.attributes[name] for name in op.attributes if name.startswith("static")]
    numbers = chain.from_iterable(
        each for each in attributes if isinstance(each, ir.DenseI64ArrayAttr)
    )
    operands = sum(isinstance(each.type, ir.IndexType) for each in op.operands)
    return sum(number == _OPEN for number in numbers) > operands


def _refuse_divisions(module: ir.Operation) -> None:
    """Refuses affine expressions that divide by 0 or less, which have no meaning."""
    _refuse_first(
        module,
        _divides_by_too_little,
        lambda op: f"an affine expression of '{op.name}' divides by a number that is not positive",
        "floordiv, ceildiv and mod are defined for positive divisors",
    )


def _divides_by_too_little(op: ir.Operation) -> bool:
    kinds = [each.type for each in op.results]
    kinds += [each.type for region in op.regions for block in region for each in block.arguments]
    maps = chain.from_iterable(_maps(op.attributes[name]) for name in op.attributes)
    return any(_DIVIDED.search(str(each)) for each in [*maps, *kinds])


def _maps(attribute: ir.Attribute) -> Iterator[ir.Attribute]:
    """Yields the affine maps, sets of integers and types that an attribute has."""
    if isinstance(attribute, ir.ArrayAttr):
        for each in attribute:
            yield from _maps(each)
    elif isinstance(attribute, ir.AffineMapAttr | ir.IntegerSetAttr | ir.TypeAttr):
        yield attribute


def _refuse_types_without_size(module: ir.Operation) -> None:
    """Refuses a pointer to a type that is not LLVM's, or has no size.

    The translation to LLVM IR has no type for it and goes on with none.
    """
    _refuse_first(
        module,
        lambda op: any(True for _ in _without_size(op)),
        lambda op: (
            f"'{op.name}' has a pointer to {next(_without_size(op))}, which is no LLVM type "
            "with a size"
        ),
        "pointers of the llvm dialect point to integers, floats, pointers, vectors of one dim, "
        "!llvm.array and !llvm.struct",
    )


def _without_size(op: ir.Operation) -> Iterator[ir.Type]:
    """Yields the types that an operation's pointers point to and that have no size."""
    if not op.name.startswith(("llvm.", "func.func", "gpu.func")):
        return
    kinds = [op.attributes["elem_type"]] if "elem_type" in op.attributes else []
    for name in _LISTS_OF_ATTRIBUTES:
        if name in op.attributes:
            kinds += [each.attr for attributes in op.attributes[name] for each in attributes]
    for kind in kinds:
        if isinstance(kind, ir.TypeAttr) and not _has_size(kind.value):
            yield kind.value
    if op.name == "llvm.va_arg" and not _has_size(op.results[0].type):
        yield op.results[0].type


def _has_size(kind: ir.Type) -> bool:
    words = _WORD.findall(_QUOTED.sub("", str(kind)))
    return "opaque" not in words and all(_OF_LLVM.fullmatch(word) for word in words)
