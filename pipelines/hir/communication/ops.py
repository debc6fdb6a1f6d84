"""Writing communications."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant


def communicator(teams: Sequence[Sequence[int]]) -> ir.Value:
    """hir.communicator: the one of the teams that a device is of."""
    rows: list[ir.Attribute] = [ir.DenseI64ArrayAttr.get(list(team)) for team in teams]
    one = len(rows) == 1
    attributes = {"team" if one else "teams": rows[0] if one else ir.ArrayAttr.get(rows)}
    return ir.Operation.create(
        "hir.communicator",
        results=[ir.Type.parse("!hir.communicator_t")],
        attributes=attributes,
    ).results[0]


def place_in(team: ir.Value) -> ir.Value:
    """hir.rank, or 0 on a device that is not of the team."""
    place = ir.Operation.create("hir.rank", results=[ir.IndexType.get()], operands=[team]).results[
        0
    ]
    return arith.maxsi(place, index_constant(0))


def communicate(
    kind: str,
    source: ir.Value,
    target: ir.Value,
    team: ir.Value,
    *,
    root: int | None = None,
    reduction: str | None = None,
    to: Sequence[int] | None = None,
) -> ir.Value:
    """hir.communicate; returns the request."""
    attributes: dict[str, ir.Attribute] = {"kind": ir.StringAttr.get(kind)}
    if root is not None:
        attributes["root"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), root)
    if reduction is not None:
        attributes["reduction"] = ir.StringAttr.get(reduction)
    if to is not None:
        attributes["to"] = ir.DenseI64ArrayAttr.get(list(to))
    return ir.Operation.create(
        "hir.communicate",
        results=[_request_type()],
        operands=[source, target, team],
        attributes=attributes,
    ).results[0]


def begin_group() -> tuple[ir.Block, ir.Value]:
    """hir.coalesce: the block that communications go into, and the request for all of them."""
    group = ir.Operation.create("hir.coalesce", results=[_request_type()], regions=1)
    return group.regions[0].blocks.append(), group.results[0]


def wait(request: ir.Value) -> None:
    """hir.wait: the current stream goes on after the communication."""
    ir.Operation.create("hir.wait", operands=[request])


def _request_type() -> ir.Type:
    return ir.Type.parse("!hir.request_t")
