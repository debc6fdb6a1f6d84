"""Checking the buffers that outputs are handed in as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects.mlir import ir
from ..errors import InputError
from . import fault
from .buffer import Buffer
from .inputs import buffer_of, wrong
from .memory import Owner
from .outline import Named, Outline
from .torch_import import torch


def by_number(
    what: str, names: Sequence[str], given: Sequence[Any] | Mapping[str, Any]
) -> list[Any]:
    """Inputs or outputs in the program's order. Of outputs, those not named are None."""
    if isinstance(given, Mapping):
        values = given
        unknown = [name for name in values if name not in names]
        missing = [name for name in names if name not in values and what == "input"]
        if unknown or missing:
            said = f"no {what} is called '{unknown[0]}'" if unknown else f"no '{missing[0]}'"
            raise InputError(
                f"{said}; the program's {what}s are: {', '.join(names) or 'none'}",
                stage=fault.STAGE,
            )
        return [values.get(name) for name in names]
    values = list(given)
    if what == "output" and not values:
        return [None] * len(names)
    if len(values) != len(names):
        raise InputError(
            f"expected {len(names)} {what}s ({', '.join(names) or 'none'}), got {len(values)}",
            stage=fault.STAGE,
        )
    return values


def bind_given(
    outline: Outline, wanted: Sequence[Any], inputs: Sequence[Any], device: torch.device
) -> dict[int, Buffer]:
    """Returns the buffers that outputs were handed in as, by number. Raises InputError.

    Nothing has run yet; sizes that the program computes are checked where it makes the output.
    """
    given: dict[int, Buffer] = {}
    for number, value in enumerate(wanted):
        if value is None:
            continue
        what = f"output '{outline.output_names[number]}'"
        root = _root(outline, number, what)
        declared = outline.output_types[number]
        named = Named(outline.output_names[number], declared)
        buffer = buffer_of(what, named, value, device, Owner.GIVEN)
        if isinstance(root.owner, ir.Block):
            _check_is_input(outline, what, root, buffer, inputs)
            continue
        _check_apart(outline, what, buffer, inputs, given)
        given[number] = buffer
    return given


def _root(outline: Outline, number: int, what: str) -> ir.Value:
    """Returns what makes an output, where that can be handed in."""
    value = outline.outputs[number].operands[0]
    if not isinstance(value.type, ir.MemRefType):
        wrong(what, f"it is a {value.type}, which cannot be handed in")
    if outline.is_view(value):
        wrong(what, "it is a view of another buffer, so it cannot be handed in")
    roots = list(outline.roots(value))
    if outline.output_of(roots[0]) != number and not isinstance(roots[0].owner, ir.Block):
        other = outline.output_names[outline.output_of(roots[0]) or 0]
        wrong(what, f"it is the same memory as output '{other}'; hand in that one")
    return roots[0]


def _check_is_input(
    outline: Outline, what: str, root: ir.Value, buffer: Buffer, inputs: Sequence[Any]
) -> None:
    number = ir.BlockArgument(root).arg_number
    if not buffer.is_same_view(inputs[number]):
        wrong(
            what,
            f"it is input '{outline.inputs[number].name}', updated in place, and "
            "another tensor was handed in for it",
        )


def _check_apart(
    outline: Outline, what: str, buffer: Buffer, inputs: Sequence[Any], given: dict[int, Buffer]
) -> None:
    if buffer.has_repeated_dim:
        wrong(what, "it has a repeated dim (stride 0): its elements share their memory")
    for named, value in zip(outline.inputs, inputs, strict=True):
        if isinstance(value, Buffer) and buffer.overlaps(value):
            wrong(what, f"it overlaps input '{named.name}' in memory")
    for number, other in given.items():
        if buffer.overlaps(other):
            wrong(what, f"it overlaps output '{outline.output_names[number]}' in memory")
