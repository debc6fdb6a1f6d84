"""Communications beside matrix products: what of a program may be done in steps.

Rows of a product are independent of one another. So rows may be communicated while others are
multiplied: what a product takes arrives in steps (allgather, all-to-all), or what it gives is sent
in steps (reduce-scatter, allreduce, all-to-all).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ...dialects.hir.layout import DYNAMIC, is_packed
from ...dialects.hir.team import teams_of
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import GENERIC, outs_of
from ..hir.compute_ops import COMPUTE_OPS
from ..hir.memory.owners import VIEWS, Owners, is_known_before
from ..schedules.device import Device
from ..walking import defining_op
from .cost import ByPeers, CommunicationWork, ProductWork, Steps, by_peers, choose_steps, reckon
from .products import PRODUCTS, STEPS, inputs_of, is_product, result_of, rows_operand

# What a device's rows are: a part of what is communicated, of which each device has one, or all.
_ARRIVES = ("allgather", "all-to-all")
_LEAVES = ("reduce-scatter", "allreduce", "all-to-all")
_MEMREF_VIEWS = {f"memref.{name}" for name in ("cast", "collapse_shape", "expand_shape", "subview")}
_NO_WORK = (
    VIEWS
    | _MEMREF_VIEWS
    | {
        "hir.allocate",
        "hir.communicator",
        "hir.rank",
        "hir.shares_memory",
        "memref.dim",
        "cf.assert",
    }
)


@dataclass(frozen=True)
class Rows:
    """A buffer as rows that steps take some of each: of dims `lead`, each with `number` of them."""

    lead: tuple[int, ...]
    number: int

    def in_steps(self, steps: int, columns: int) -> list[int]:
        """Returns the sizes of the buffer with the dim of the steps after the leading ones."""
        return [*self.lead, steps, self.number // steps, columns]


@dataclass(frozen=True)
class Overlap:
    """A communication, its wait, and the products that take all it gives or give all it takes.

    `arrives` says which; `product_rows` are those of the products' operand and result, `rows`
    those of the communication's buffer on its other side.
    """

    communicate: ir.Operation
    wait: ir.Operation
    products: Sequence[ir.Operation]
    arrives: bool
    product_rows: Rows
    rows: Rows

    @property
    def kind(self) -> str:
        """The kind of communication."""
        return _kind(self.communicate)

    @property
    def asked(self) -> int | None:
        """The number of steps that a product asks for."""
        for op in self.products:
            if STEPS in op.attributes:
                return ir.IntegerAttr(op.attributes[STEPS]).value
        return None

    def steps(self, device: Device, most: int) -> Steps:
        """Returns the number of steps: what a product asks for, else what the device does best.

        With `most` it is the greatest one up to that which divides the rows, whatever it costs.
        """
        rows, asked = self.product_rows.number, self.asked
        if asked is None and most:
            asked = max(each for each in range(1, most + 1) if rows % each == 0)
        communication, products = self._communication(), [_work(op) for op in self.products]
        if asked is not None:
            return reckon(device, communication, products, asked)
        return choose_steps(device, communication, products, rows)

    @property
    def may_go_by_peers(self) -> bool:
        """Whether the devices may copy their parts into each other's memory.

        Each has as many rows as the others, one matrix for all of them, and shares are summed.
        """
        if len(self.product_rows.lead) != 1 or not all(map(_has_one_matrix, self.products)):
            return False
        if self.arrives:
            return self.kind == "allgather"
        return (
            self.kind == "reduce-scatter"
            and ir.StringAttr(self.communicate.attributes["reduction"]).value == "sum"
        )

    def by_peers(self, device: Device) -> ByPeers:
        """Returns the time that it takes so, by the device's figures, and in how many pieces."""
        products = [_work(op) for op in self.products]
        rows = None if self.arrives else self.product_rows.number
        return by_peers(device, self._communication(), products, rows)

    def _communication(self) -> CommunicationWork:
        whole = max(map(_type, list(self.communicate.operands)[:2]), key=lambda of: prod(of.shape))
        return CommunicationWork(
            prod(whole.shape),
            str(whole.element_type),
            _devices(self.communicate),
            2 if self.kind == "allreduce" else 1,
        )


def overlaps_in(block: ir.Block, owners: Owners) -> list[Overlap]:
    """Returns the communications of a block that products of it may overlap with, in order.

    A product is of one of them at most. `owners` are the program's.
    """
    finder, found = _Finder(block, owners), list[Overlap]()
    taken = set[ir.Operation]()
    for op in finder.operations:
        overlap = finder.find(op) if op.name == "hir.communicate" else None
        if overlap is not None and not taken & set(overlap.products):
            found.append(overlap)
            taken.update(overlap.products)
    return found


class _Finder:
    """Finds overlaps in a block."""

    def __init__(self, block: ir.Block, owners: Owners) -> None:
        self._owners = owners
        self.operations = [op.operation for op in block]
        self._places = {op: place for place, op in enumerate(self.operations)}

    def find(self, op: ir.Operation) -> Overlap | None:
        """Returns what may overlap with a hir.communicate, or None."""
        uses = _users(op.results[0])
        if len(uses) != 1 or uses[0].name != "hir.wait" or uses[0] not in self._places:
            return None
        # Where something else is done meanwhile, the program overlaps by itself.
        if _devices(op) < 2 or not all(map(_does_nothing, self._between(op, uses[0]))):
            return None
        return self._arriving(op, uses[0]) or self._leaving(op, uses[0])

    def _arriving(self, op: ir.Operation, wait: ir.Operation) -> Overlap | None:
        """The products that take what `op` receives, if nothing else does."""
        received = op.operands[1]
        allocation = defining_op(received)
        if _kind(op) not in _ARRIVES or allocation is None or not _is_plain(allocation):
            return None
        users = set(_users(received)) - {op}
        if not users or any(each not in self._places for each in users):
            return None
        products = sorted(users, key=self._places.__getitem__)
        if not all(_takes_rows(each, received) for each in products):
            return None
        first, last = products[0], products[-1]
        others = [each for product in products for each in inputs_of(product) if each != received]
        if self._places[first] < self._places[wait] or not all(
            is_known_before(each, first) for each in others
        ):
            return None
        results = [result_of(product) for product in products if not len(product.results)]
        if not all(is_known_before(each, first) or self._is_own(each) for each in results):
            return None
        taken = [op.operands[0], *others]
        between = [each for each in self._between(wait, last) if each not in products]
        if not all(self._leaves_alone(each, taken, results) for each in between):
            return None
        if self._share(results, taken) or len({*results}) < len(results):
            return None
        found = {_rows_of(each, _devices(op)) for each in products}
        rows = found.pop()
        if found or rows is None:
            return None
        own = Rows(rows.lead if _kind(op) == "all-to-all" else rows.lead[1:], rows.number)
        return Overlap(op, wait, products, True, rows, own)

    def _leaving(self, op: ir.Operation, wait: ir.Operation) -> Overlap | None:
        """The product that gives what `op` sends, if nothing else takes it."""
        kind, product = _kind(op), self._giver(op)
        if kind not in _LEAVES or product is None:
            return None
        if not all(
            self._leaves_alone(each, inputs_of(product), []) for each in self._between(product, op)
        ):
            return None
        # What a step receives is not what a later one multiplies.
        received = self._owners.roots(op.operands[1])
        read = [self._owners.roots(each) for each in inputs_of(product)]
        if not received or any(not roots or roots & received for roots in read):
            return None
        rows = _rows_of(product, 1 if kind == "allreduce" else _devices(op))
        if rows is None:
            return None
        own = Rows(rows.lead[1:] if kind == "reduce-scatter" else rows.lead, rows.number)
        return Overlap(op, wait, [product], False, rows, own)

    def _giver(self, op: ir.Operation) -> ir.Operation | None:
        """Returns the product that gives what `op` sends, and nothing else takes."""
        sent = op.operands[0]
        product = defining_op(sent)
        if product is not None and product.name == "hir.allocate":
            others = [each for each in _users(sent) if each != op]
            product = others[0] if len(others) == 1 and _is_plain(product) else None
        elif len(_users(sent)) != 1:
            return None
        if product is None or product not in self._places or not is_product(product):
            return None
        rows = rows_operand(product)
        assert rows is not None
        is_its = result_of(product) == sent and self._places[product] < self._places[op]
        return product if is_its and _takes_rows(product, product.operands[rows]) else None

    def _is_own(self, buffer: ir.Value) -> bool:
        """Returns whether a buffer is allocated where the operations are, of sizes that are
        known.
        """
        allocation = defining_op(buffer)
        return allocation in self._places and allocation is not None and _is_plain(allocation)

    def _leaves_alone(
        self, op: ir.Operation, taken: Sequence[ir.Value], given: Sequence[ir.Value]
    ) -> bool:
        """Returns whether an operation writes to nothing that is taken, has nothing to do with what
        is given, and orders nothing.
        """
        if op.name.startswith("linalg.") and not len(op.results):
            written = list(op.operands)[-1:] if op.name != GENERIC else outs_of(op)
            buffers = [each for each in op.operands if isinstance(each.type, ir.MemRefType)]
            return not self._share(written, taken) and not self._share(buffers, given)
        return _disturbs_nothing(op)

    def _share(self, some: Sequence[ir.Value], others: Sequence[ir.Value]) -> bool:
        """Returns whether two buffers may be, or be views of, the same memory."""
        roots = [self._owners.roots(each) for each in others]
        return any(
            not here or not there or here & there
            for here in map(self._owners.roots, some)
            for there in roots
        )

    def _between(self, first: ir.Operation, last: ir.Operation) -> Iterator[ir.Operation]:
        for place in range(self._places[first] + 1, self._places[last]):
            yield self.operations[place]


def _users(value: ir.Value) -> list[ir.Operation]:
    return [use.owner.operation for use in value.uses]


def _takes_rows(product: ir.Operation, value: ir.Value) -> bool:
    """Returns whether an operation is a product of a fresh result with `value` as its rows,
    once.
    """
    if not is_product(product):
        return False
    taken = [place for place, each in enumerate(product.operands) if each == value]
    return taken == [rows_operand(product)]


def _rows_of(product: ir.Operation, parts: int) -> Rows | None:
    """Returns the rows of a product's operand and result of which `parts` devices have a part each.

    With one matrix for all rows, they are those of all leading dims. Else the first leading dim is
    that of the devices. None where they cannot be told apart so, or a view would not have them.
    """
    if product.name not in PRODUCTS:
        shape = _type(_rows(product)).shape
        sizes = (*shape, *_type(result_of(product)).shape)
        if any(size <= 0 for size in sizes) or shape[0] % parts:
            return None
        return Rows((parts,) if parts > 1 else (), shape[0] // parts)
    x, other, result = map(_type, (*list(product.operands)[:2], product.results[0]))
    if any(DYNAMIC in each.shape or 0 in each.shape for each in (x, other, result)):
        return None
    if other.rank > 2:
        if x.rank < 3 or list(x.shape[:-1]) != list(result.shape[:-1]):
            return None
        if parts > 1 and x.shape[0] != parts:
            return None
        return Rows(tuple(x.shape[:-2]), x.shape[-2])
    rows = prod(x.shape[:-1])
    if rows % parts or x.rank < 2 or (x.rank > 2 and not is_packed(x)):
        return None
    return Rows((parts,) if parts > 1 else (), rows // parts)


def _rows(product: ir.Operation) -> ir.Value:
    place = rows_operand(product)
    assert place is not None
    return product.operands[place]


def _has_one_matrix(product: ir.Operation) -> bool:
    """Returns whether all rows of a product are multiplied by the same matrix."""
    return product.name not in PRODUCTS or _type(product.operands[1]).rank <= 2


def _work(product: ir.Operation) -> ProductWork:
    x, result = _type(_rows(product)), _type(result_of(product))
    columns = result.shape[-1]
    return ProductWork(prod(result.shape[:-1]), columns, x.shape[-1], str(x.element_type))


def _is_plain(op: ir.Operation) -> bool:
    """Returns whether an operation allocates a buffer of no special memory or layout."""
    return op.name == "hir.allocate" and not len(op.attributes)


def _does_nothing(op: ir.Operation) -> bool:
    return op.name in _NO_WORK or op.name.startswith("arith.")


def _disturbs_nothing(op: ir.Operation) -> bool:
    """Returns whether an operation writes nothing but fresh memory, and orders nothing."""
    return _does_nothing(op) or (op.name in COMPUTE_OPS and len(op.results) == 1)


def _kind(communicate: ir.Operation) -> str:
    return ir.StringAttr(communicate.attributes["kind"]).value


def _devices(communicate: ir.Operation) -> int:
    team = defining_op(communicate.operands[2])
    assert team is not None
    return len(teams_of(team)[0])


def _type(value: ir.Value) -> ir.MemRefType:
    return ir.MemRefType(value.type)
