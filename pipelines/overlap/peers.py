"""Writing a communication and its products by way of memory that the devices share.

Copies are made by copy engines: no multiprocessor takes part. Rows that products take, each device
copies into the memory of the others, one after another. Every device begins with the one after it,
so that no two send to one at once, and multiplies meanwhile what is there, its own rows first.

Sums that products give go around a ring. Each device adds its share of some rows to what the device
before it has sent of them, and sends that on; the device whose rows they are adds its share last.
So what the next device sends must be there before a product ends. In pieces, one is on its way
while the next is multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.hir.layout import buffer_type
from ...dialects.mlir import arith, ir
from ..hir.communication.ops import wait
from ..hir.fresh_buffers import allocate
from ..hir.loops import emit_either
from ..hir.view_ops import reshape, select
from ..rewriting import index_constant
from ..walking import defining_op
from .loop import as_rows, communicate, erase, output_of
from .products import multiply, multiply_onto, result_of, rows_operand
from .search import Overlap

_TEAMS = ("team", "teams")


def write_by_peers(overlap: Overlap, pieces: int) -> None:
    """Replaces a communication, its wait and products; each device's sums leave in so many pieces.

    Where the devices cannot reach each other's memory, which the run finds out, they communicate
    as before, and multiply before or after.
    """
    place = overlap.products[0] if overlap.arrives else overlap.communicate
    with ir.InsertionPoint(place), place.location:
        shared, otherwise = _arriving(overlap) if overlap.arrives else _leaving(overlap, pieces)
        team = overlap.communicate.operands[2]
        reaches = ir.Operation.create(
            "hir.shares_memory", [ir.IntegerType.get_signless(1)], [team]
        ).results[0]
        emit_either(reaches, shared, otherwise)
    erase(overlap)


def _arriving(overlap: Overlap) -> tuple[Callable[[], None], Callable[[], None]]:
    source, received = list(overlap.communicate.operands)[:2]
    rows = overlap.product_rows
    (devices,) = rows.lead
    results = [output_of(product) for product in overlap.products]
    declared = ir.MemRefType(received.type)
    columns = declared.shape[-1]
    own = reshape(as_rows(source, received), [rows.number, columns], [])
    parts = [_parts(each, rows.number, devices) for each in results]

    def shared() -> None:
        memory = _shared(overlap, [devices, rows.number, columns], declared.element_type)
        place = _place(overlap)
        part = select(memory, 0, place)
        requests = [_put(own, part, peer) for peer in _others(place, devices, 1)]
        _multiply(overlap.products, own, parts, place)
        for peer in _others(place, devices, -1):
            _wait_signal(memory, peer)
            _multiply(overlap.products, select(memory, 0, peer), parts, peer)
        for request in requests:
            wait(request)

    def otherwise() -> None:
        whole = allocate(declared, [])
        communicate(overlap, source, whole)
        for product, result in zip(overlap.products, results, strict=True):
            multiply(product, whole, result)

    return shared, otherwise


def _leaving(overlap: Overlap, pieces: int) -> tuple[Callable[[], None], Callable[[], None]]:
    (product,) = overlap.products
    result, target = result_of(product), overlap.communicate.operands[1]
    declared = ir.MemRefType(result.type)
    rows = overlap.product_rows
    (devices,) = rows.lead
    columns, element = declared.shape[-1], declared.element_type
    number = rows_operand(product)
    assert number is not None
    taken = product.operands[number]
    own = [pieces, rows.number // pieces]
    given = reshape(taken, [devices, *own, ir.MemRefType(taken.type).shape[-1]], [])
    received = reshape(as_rows(target, result), [*own, columns], [])

    def shared() -> None:
        sizes = [devices - 1, *own, columns]
        memory = _shared(overlap, sizes, element)
        made = allocate(buffer_type(sizes, element), [])
        place = _place(overlap)
        owners, after = [*_others(place, devices, -1), place], _others(place, devices, 1)[0]
        requests: list[ir.Value] = []
        for step, owner in enumerate(owners):
            for piece in range(pieces):
                part = _at(given, owner, piece)
                sums = _at(received, piece) if owner == place else _at(made, step, piece)
                if step == 0:
                    multiply(product, part, sums)
                else:
                    _wait_signal(memory, owners[0])
                    multiply_onto(product, part, _at(memory, step - 1, piece), sums)
                if owner != place:
                    requests.append(_put(sums, _at(memory, step, piece), after))
        for request in requests:
            wait(request)

    def otherwise() -> None:
        whole = allocate(buffer_type(declared.shape, element), [])
        multiply(product, taken, whole)
        communicate(overlap, whole, target)

    return shared, otherwise


def _parts(buffer: ir.Value, rows: int, devices: int) -> ir.Value:
    """Returns the view with the rows of each device."""
    return reshape(buffer, [devices, rows, ir.MemRefType(buffer.type).shape[-1]], [])


def _at(buffer: ir.Value, *places: ir.Value | int) -> ir.Value:
    """Returns the view of a buffer at so many places of its first dims."""
    for place in places:
        buffer = select(buffer, 0, index_constant(place) if isinstance(place, int) else place)
    return buffer


def _multiply(
    products: Sequence[ir.Operation], rows: ir.Value, parts: Sequence[ir.Value], place: ir.Value
) -> None:
    for product, each in zip(products, parts, strict=True):
        with product.location:
            multiply(product, rows, select(each, 0, place))


def _shared(overlap: Overlap, sizes: Sequence[int], element: ir.Type) -> ir.Value:
    """Allocates memory that the team shares: whoever comes here has done with what was in it."""
    team = defining_op(overlap.communicate.operands[2])
    assert team is not None
    named: dict[str, ir.Attribute] = {"memory": ir.StringAttr.get("symmetric")}
    named |= {name: team.attributes[name] for name in _TEAMS if name in team.attributes}
    kind = buffer_type(sizes, element)
    return ir.Operation.create("hir.allocate", [kind], attributes=named).results[0]


def _place(overlap: Overlap) -> ir.Value:
    team = overlap.communicate.operands[2]
    return ir.Operation.create("hir.rank", [ir.IndexType.get()], [team]).results[0]


def _others(place: ir.Value, devices: int, by: int) -> list[ir.Value]:
    """Returns the places of the others: after the own one, or with `by` of -1 before it."""
    return [
        arith.remui(
            arith.addi(place, index_constant((by * step) % devices)), index_constant(devices)
        )
        for step in range(1, devices)
    ]


def _put(rows: ir.Value, target: ir.Value, peer: ir.Value) -> ir.Value:
    """Begins to copy rows to a peer's part of shared memory; returns the request."""
    return ir.Operation.create(
        "hir.put",
        [ir.Type.parse("!hir.request_t")],
        [rows, target, peer],
        {"signal": ir.UnitAttr.get()},
    ).results[0]


def _wait_signal(memory: ir.Value, peer: ir.Value) -> None:
    ir.Operation.create("hir.wait_signal", operands=[memory, peer])
