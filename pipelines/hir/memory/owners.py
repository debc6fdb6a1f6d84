"""Whose life a buffer's memory has: what is freed with it, and what it may share elements with.

A root stands for one life of memory. It begins with an input of the program, with an operation that
gives a fresh buffer (hir.allocate, hir.reuse, a compute operation without a destination), or with
one value of the results of a hir.call or hir.if: a buffer that a branch of hir.if allocated and
gives out is the hir.if's from there on, as a callee's output is the hir.call's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from ....dialects.hir.region_arguments import arguments_of, destination_of
from ....dialects.hir.symbols import lookup
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...walking import defining_op, operations_where
from ..compute_ops import COMPUTE_OPS

VIEWS = frozenset(f"hir.{name}" for name in ("select", "slice", "permute", "reshape", "expand"))
_FRESH = frozenset({"hir.allocate", "hir.reuse", "hir.reshard", "memref.alloc", *COMPUTE_OPS})

# The kind of memory that a team shares: it is used again by all of the team at once.
SHARED = "symmetric of a team"


@dataclass(frozen=True)
class Root:
    """One life of memory: that of the buffer `value`, or of number `index` of the results `value`
    of a hir.if or hir.call.
    """

    value: ir.Value
    index: int | None = None

    @property
    def is_input(self) -> bool:
        return isinstance(self.value, ir.BlockArgument)

    @property
    def maker(self) -> ir.Operation:
        """The operation that the life begins with; the program's for an input."""
        owner = self.value.owner
        return owner.owner.operation if isinstance(owner, ir.Block) else owner.operation


Roots = frozenset[Root]
_NONE: Roots = frozenset()


def is_buffer(value: ir.Value) -> bool:
    """Returns whether a value is a buffer, and no scalar, stream or the like."""
    return isinstance(value.type, ir.MemRefType)


def outputs_of(block: ir.Block) -> list[ir.Operation]:
    """Returns the hir.outputs of a program or a branch."""
    return [op.operation for op in block if op.operation.name == "hir.output"]


def result_index(op: ir.Operation) -> int:
    """Returns which of the results a hir.result takes."""
    return ir.IntegerAttr(op.attributes["index"]).value


def callee_of(call: ir.Operation) -> ir.Operation | None:
    """Returns the program that a hir.call runs."""
    found = lookup(call.opview, [ir.FlatSymbolRefAttr(call.attributes["callee"]).value])
    return found if found is not None and found.name == "hir.program" else None


def is_before(op: ir.Operation, place: ir.Operation) -> bool:
    """Returns whether what `op` gives can be used at `place`."""
    here: ir.Operation | None = place
    while here is not None and here.block != op.block:
        parent = here.parent
        here = None if parent is None or parent.name == "builtin.module" else parent
    return here is not None and op.is_before_in_block(here)


def is_known_before(value: ir.Value, op: ir.Operation) -> bool:
    """Returns whether a value is there before an operation."""
    maker = defining_op(value)
    return maker is None or is_before(maker, op)


def is_shared_memory(op: ir.Operation | ir.OpView) -> bool:
    """Returns whether what a hir.allocate gives is memory that a team shares."""
    return "team" in op.attributes or "teams" in op.attributes


def memory_kind(root: Root) -> str | None:
    """Returns the kind of memory of a hir.allocate, or of a hir.reuse of one; None
    where unknown. What a team shares is SHARED.
    """
    op = root.maker
    while op.name == "hir.reuse":
        source = defining_op(op.operands[0])
        if source is None:
            return None
        op = source
    if op.name != "hir.allocate":
        return None
    if is_shared_memory(op):
        return SHARED
    return ir.StringAttr(op.attributes["memory"]).value if "memory" in op.attributes else "device"


@dataclass
class Owners:
    """The roots of the values of one program."""

    program: ir.Operation
    _roots: dict[ir.Value, Roots] = field(default_factory=dict[ir.Value, Roots])
    _results: dict[ir.Operation, list[Roots]] = field(
        default_factory=dict[ir.Operation, list[Roots]]
    )
    _aliases: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])

    def __post_init__(self) -> None:
        for op in operations_where(self.program, lambda op: op.name == "hir.alias"):
            self._aliases[op.operands[0]] = op.operands[1]

    @property
    def block(self) -> ir.Block:
        return self.program.regions[0].blocks[0]

    def roots(self, value: ir.Value) -> Roots:
        """Returns every memory that `value` may lie in; none where it is no buffer.

        The request of a communication has those of its buffers, which it uses until it is waited
        for.
        """
        found = self._roots.get(value)
        if found is None:
            self._roots[value] = _NONE  # An alias of itself has no memory.
            found = self._roots[value] = self._find(value)
        return found

    def may_share(self, value: ir.Value, others: Iterable[ir.Value]) -> bool:
        """Returns whether a buffer may have elements of one of the others.

        Inputs may share memory with one another.
        """
        mine = self.roots(value)
        is_input = any(root.is_input for root in mine)
        return any(
            self.roots(other) & mine
            or (is_input and any(root.is_input for root in self.roots(other)))
            for other in others
        )

    def results(self, op: ir.Operation) -> list[Roots]:
        """Returns the roots of each value that a hir.call or hir.if gives."""
        found = self._results.get(op)
        if found is None:
            found = self._of_branches(op) if op.name == "hir.if" else self._of_call(op)
            self._results[op] = found
        return found

    def outputs(self) -> list[Roots]:
        """Returns the roots of the program's outputs."""
        return [self.roots(op.operands[0]) for op in outputs_of(self.block)]

    def of_operands(self, op: ir.Operation) -> Iterator[tuple[ir.Value, Roots]]:
        """Yields the operands that lie in memory, with their roots; not those of
        operations within.
        """
        for operand in op.operands:
            roots = self.roots(operand)
            if roots:
                yield operand, roots

    def made_by(self, op: ir.Operation) -> list[Root]:
        """Returns the lives that begin with an operation, and are the program's to end."""
        if op.name in ("hir.if", "hir.call"):
            found = [Root(op.results[0], index) for index in range(len(self.results(op)))]
            return [
                root for root, here in zip(found, self.results(op), strict=True) if root in here
            ]
        if op.name in _FRESH and len(op.results):
            return [Root(op.results[0])]
        return []

    def _find(self, value: ir.Value) -> Roots:
        if value in self._aliases:
            return self.roots(self._aliases[value])
        op = defining_op(value)
        if op is None:
            return frozenset({Root(value)}) if is_buffer(value) else _NONE
        if op.name in ("hir.communicate", "hir.coalesce", "hir.put", "hir.get"):
            inner = list(op.regions[0].blocks[0]) if op.name == "hir.coalesce" else [op]
            return _union(self.roots(each) for one in inner for each in one.operation.operands)
        if not is_buffer(value):
            return _NONE
        if op.name in _FRESH:
            return frozenset({Root(value)})
        if op.name == "hir.result":
            source, index = defining_op(op.operands[0]), result_index(op)
            assert source is not None
            results = self.results(source) if source.name != "hir.host_call" else []
            return results[index] if index < len(results) else _NONE
        if op.name in VIEWS:
            return self.roots(op.operands[0])
        return _union(self.roots(operand) for operand in op.operands if is_buffer(operand))

    def given_out(self, op: ir.Operation, region: ir.Region) -> dict[Root, Root]:
        """What begins within a branch of a hir.if and is among its outputs, as the hir.if's.

        It is result number `index` of it, the first that has the memory.
        """
        given: dict[Root, Root] = {}
        for number, output in enumerate(outputs_of(region.blocks[0])):
            for root in self.roots(output.operands[0]):
                if self.is_made_within(root, region):
                    given.setdefault(root, Root(op.results[0], number))
        return given

    def _of_branches(self, op: ir.Operation) -> list[Roots]:
        branches: list[list[Roots]] = []
        for region in op.regions:
            given = self.given_out(op, region)
            branches.append(
                [
                    frozenset(given.get(root, root) for root in self.roots(output.operands[0]))
                    for output in outputs_of(region.blocks[0])
                ]
            )
        return [_union(pair) for pair in zip(*branches, strict=False)]

    def is_made_within(self, root: Root, region: ir.Region) -> bool:
        """Returns whether a root's life begins in a region."""
        block = region.blocks[0]
        here = root.maker
        while not root.is_input and here != self.program:
            if here.block == block:
                return True
            assert here.parent is not None
            here = here.parent
        return False

    def _of_call(self, op: ir.Operation) -> list[Roots]:
        callee = callee_of(op)
        if callee is None:
            return []
        arguments = arguments_of(op.regions[0])
        inputs = [each.operands[0] for each in arguments if destination_of(each) is None]
        given = {destination_of(each): each.operands[0] for each in arguments}
        first: dict[Root, int] = {}
        results: list[Roots] = []
        for number, roots in enumerate(Owners(callee).outputs()):
            found: list[Roots] = []
            for root in roots:
                if isinstance(root.value, ir.BlockArgument):
                    found.append(self.roots(inputs[root.value.arg_number]))
                    continue
                index = first.setdefault(root, number)
                found.append(
                    self.roots(given[index])
                    if index in given
                    else frozenset({Root(op.results[0], index)})
                )
            results.append(_union(found))
        return results


def _union(many: Iterator[Roots] | list[Roots] | tuple[Roots, ...]) -> Roots:
    return frozenset[Root]().union(*many)
