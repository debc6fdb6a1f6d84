"""Communication, in a team of one: copies. Larger teams are not supported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..convert import convert
from ..frame import Frame
from ..registry import interprets
from ..shapes import text_of


@dataclass(frozen=True)
class Request:
    """A communication, done already."""


@dataclass(frozen=True)
class Communicator:
    """A team of one device."""

    device: int


@interprets("hir.communicator")
def communicator(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return [Communicator(_only_device(op, "team"))]


@interprets("hir.communicate")
def communicate(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """Every kind of communication with oneself is a copy."""
    source, target = (frame.buffer(op, operand) for operand in list(op.operands)[:2])
    if source.tensor.numel() != target.tensor.numel():
        fault.fail(
            op,
            f"in a team of one the output, {text_of(target.sizes)} ({target.name}), has the "
            f"elements of the input, {text_of(source.sizes)} ({source.name})",
        )
    numbers = convert(frame.read(op, source), source.element, target.element)
    frame.write(target, numbers.reshape(target.sizes))
    return [Request()]


@interprets("hir.wait")
def wait(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    return []


@interprets("hir.coalesce")
def coalesce(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    frame.run_block(op.regions[0].blocks[0])
    return [Request()]


@interprets("hir.reshard")
def reshard(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    """A buffer spread over one device is whole however it is spread: a copy."""
    _only_device(op, "from_team")
    _only_device(op, "to_team")
    source = frame.buffer(op, op.operands[0])
    destination = frame.destination(op, source.sizes, [source], in_place=True)
    frame.write(destination, frame.read(op, source))
    return [destination] if len(op.results) else []


def _only_device(op: ir.Operation, name: str) -> int:
    team = list(ir.DenseI64ArrayAttr(op.attributes[name]))
    if len(team) != 1:
        fault.refuse(
            op, f"running a program over a team of {len(team)} devices is not supported yet"
        )
    return team[0]
