"""Elementwise operations behind a product in more dims than its, made ones in its own.

As a layer in torch gives the rows of several sequences, and a residual has these apart:

  %t = linalg.generic ins(%y : tensor<4096x512xf32>) { truncf }
  %e = tensor.expand_shape %t [[0, 1], [2]] ... : tensor<4096x512xbf16> into tensor<4x1024x512xbf16>
  %r = linalg.generic ins(%e, %z : ...) { addf }
becomes
  %c = tensor.collapse_shape %z [[0, 1], [2]] : ...
  %s = linalg.generic ins(%y, %c : ...) { truncf, addf }
  %r = tensor.expand_shape %s [[0, 1], [2]] ...
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access, reassociation
from ..fusion.generic import accesses_of, carry_configuration
from ..generics import emit_generic
from .fused import clone_body, is_elementwise

_EXPAND, _COLLAPSE = "tensor.expand_shape", "tensor.collapse_shape"


@dataclass(frozen=True)
class Flattened:
    """What was made of the operations behind a product, beside them: `keep` or `drop` it.

    Until then the first of them reads what the product begins with.
    """

    product: ir.Operation
    behind: Sequence[ir.Operation]
    place: int
    made: Sequence[ir.Operation]

    def keep(self) -> None:
        """Puts it in the place of the others."""
        self.behind[-1].results[0].replace_all_uses_with(self.made[-1].results[0])
        for op in reversed(self.behind):
            op.erase()

    def drop(self) -> None:
        """Lets the others read the product again."""
        for op in reversed(self.made):
            op.erase()
        self.behind[0].operands[self.place] = self.product.results[0]


def flatten_reader(product: ir.Operation) -> Flattened | None:
    """Makes one operation of those that read a product's result, one the other: an elementwise one
    or none, an expansion, and an elementwise one. None where others do.
    """
    behind: list[ir.Operation] = []
    read: list[int] = []
    last = product
    for _ in range(3):
        use = _lone_use(last)
        if use is None:
            return None
        last = use.owner.operation
        behind.append(last)
        read.append(use.operand_number)
        if len(behind) > 1 and behind[-2].name == _EXPAND:
            break
    *before, expanded, reader = behind
    if expanded.name != _EXPAND or not is_elementwise(reader, read[-1]):
        return None
    if before and not is_elementwise(before[0], read[0]):
        return None
    accesses = _flat_accesses(reader, read[-1], expanded)
    own = accesses_of(before[0]) if before else []
    is_in_order = not own or own[-1].index == own[read[0]].index == _all(own[-1])
    if accesses is None or not is_in_order:
        return None
    made: list[ir.Operation] = []
    with reader.location, ir.InsertionPoint(reader):
        for place, each in enumerate(accesses):
            if (
                len(each.index) == len(reassociation(expanded))
                and each.value != expanded.results[0]
            ):
                made.append(_collapsed(each.value, expanded))
                accesses[place] = Access(made[-1].results[0], each.index)
        total = accesses.pop(read[-1])
        inputs = own[:-1] if before else [Access(product.results[0], total.index)]
        made.append(_joined([*inputs, *accesses], len(total.index), before, reader, read[-1]))
        made.append(_expanded(made[-1].results[0], reader.results[0].type, expanded))
    behind[0].operands[read[0]] = product.operands[len(product.operands) - 1]
    return Flattened(product, behind, read[0], made)


def _lone_use(op: ir.Operation) -> ir.OpOperand | None:
    """Returns the one use of an operation's result, where it is beside it."""
    uses = list(op.results[0].uses) if len(op.results) == 1 else []
    return uses[0] if len(uses) == 1 and uses[0].owner.operation.block == op.block else None


def _all(access: Access) -> tuple[int, ...]:
    return tuple(range(len(access.index)))


def _flat_accesses(reader: ir.Operation, place: int, expanded: ir.Operation) -> list[Access] | None:
    """Returns what a reader accesses in the dims that were expanded; None where that is not known.

    What it accesses is whole, or of dims that stay by themselves, as a bias is.
    """
    accesses = accesses_of(reader)
    whole = accesses[place].index
    if whole != _all(accesses[place]) or accesses[-1].index != whole:
        return None
    groups = reassociation(expanded)
    alone: dict[object, int] = {dims[0]: at for at, dims in enumerate(groups) if len(dims) == 1}
    found: list[Access] = []
    for each in accesses:
        if each.index == whole:
            found.append(Access(each.value, tuple(range(len(groups)))))
        elif len(each.index) < len(groups) and all(loop in alone for loop in each.index):
            found.append(Access(each.value, tuple(alone[loop] for loop in each.index)))
        else:
            return None
    return found


def _joined(
    accesses: Sequence[Access],
    loops: int,
    before: Sequence[ir.Operation],
    reader: ir.Operation,
    place: int,
) -> ir.Operation:
    """Returns an operation that computes what a reader does of what is computed before."""

    def body(given: Sequence[ir.Value]) -> list[ir.Value]:
        rest = list(given)
        if before:
            source = before[0].regions[0].blocks[0]
            count = len(source.arguments) - 1
            total = clone_body(source, _paired(source, rest[:count]))
            rest = rest[count:]
        else:
            total = rest.pop(0)
        rest.insert(place, total)
        source = reader.regions[0].blocks[0]
        return [clone_body(source, _paired(source, rest))]

    *inputs, output = ((each.value, each.map(loops)) for each in accesses)
    generic = emit_generic(loops, (), inputs, [output], body)
    carry_configuration([*before, reader], generic)
    return generic


def _paired(source: ir.Block, values: Sequence[ir.Value]) -> dict[ir.Value, ir.Value]:
    return dict(zip(source.arguments, values, strict=False))


def _collapsed(value: ir.Value, expanded: ir.Operation) -> ir.Operation:
    """Returns a value in the dims that were expanded."""
    kind = ir.RankedTensorType(expanded.operands[0].type)
    element = ir.RankedTensorType(value.type).element_type
    return ir.Operation.create(
        _COLLAPSE,
        results=[ir.RankedTensorType.get(kind.shape, element)],
        operands=[value],
        attributes={"reassociation": expanded.attributes["reassociation"]},
    )


def _expanded(value: ir.Value, kind: ir.Type, expanded: ir.Operation) -> ir.Operation:
    """Returns a value of the dims that were expanded in the others."""
    return ir.Operation.create(
        _EXPAND,
        results=[kind],
        operands=[value, *list(expanded.operands)[1:]],
        attributes={
            name: expanded.attributes[name] for name in ("reassociation", "static_output_shape")
        },
    )
