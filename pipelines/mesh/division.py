"""Rewriting a function over a mesh to what each of its devices does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...dialects.hir.element_types import ELEMENT_TYPES
from ...dialects.hir.layout import DYNAMIC, buffer_type
from ...dialects.hir.mesh import MESH, SPREAD, Mesh, Spreads
from ...dialects.hir.program_mesh import is_combined
from ...dialects.hir.refusal import constant_value
from ...dialects.hir.spread import Spread
from ...dialects.mlir import arith, ir
from ..fusion.access import reassociation
from ..fusion.fills import filled_with
from ..fusion.generic import GENERIC, has_tensors_only, inputs_of
from ..generics import each_of
from ..hir.communication.device_parts import as_value, divided
from ..hir.mesh.choice import Choice, Meanwhile, Problem, Value, work_of
from ..hir.mesh.rewriting import MeshRewriting
from ..pass_base import fail
from ..rewriting import constant, index_constant, zero_of
from ..tensors import collapsed, dim_of, fill, padded, part_of
from ..walking import defining_operation, operations_where
from ..weights import MARK as WEIGHT
from ..weights import divided_weights
from .declared import argument_spreads, result_spreads
from .linear import passes_parts
from .loops import is_total, loops_of, parallel_loops, product_sizes
from .unfold import Groups, expanded_then_collapsed, unfold
from .views import COLLAPSE, EXPAND, INSERT, VIEWS, dim_pairs, inserted_dims, view_spreads
from .wishes import Wish, find_wishes, renamed

_EMPTY = "tensor.empty"
# A bias is added to a sum before that is rounded.
_STEPS_TO_ROUNDING = 2
# Elements that change nothing, by how parts are combined. Parts of the others are all alike.
_NEUTRAL = {"sum": 0, "prod": 1}


class Division(MeshRewriting[ir.RankedTensorType]):
    """A function over a mesh while it is rewritten, from its first operation to its last."""

    def __init__(self, function: ir.Operation, mesh: Mesh, meanwhile: Meanwhile) -> None:
        blocks = list(function.regions[0].blocks)
        if len(blocks) != 1:
            fail(function, f"a function with '{MESH}' has no branches (cf); use scf.if and scf.for")
        super().__init__(function, mesh)
        self._meanwhile = meanwhile
        self._results = result_spreads(function, mesh)
        self._there: dict[ir.Value, set[Spreads]] = {}
        # Collapses that cannot be divided as what they collapse is; what takes them tells what
        # becomes of them.
        self._collapses: dict[ir.Value, ir.Operation] = {}
        self._wishes = find_wishes(self.block, self._results)

    def run(self) -> None:
        """Rewrites the function."""
        operations = [child.operation for child in self.block]
        self._divide_arguments(argument_spreads(self.owner, self.mesh))
        for op in operations:
            self._divide_at(op)
        for op in reversed([*self._collapses.values()]):
            op.erase()
        self._finish(MESH, [value.type for value in operations[-1].operands])

    # What is known of values.

    def _type(self, value: ir.Value) -> ir.RankedTensorType:
        """Returns the type of the whole of a tensor."""
        return self._whole.get(value) or ir.RankedTensorType(value.type)

    def _part_type(self, whole: ir.RankedTensorType, spreads: Spreads) -> ir.RankedTensorType:
        shape = [self.mesh.part(spreads, dim, size) for dim, size in enumerate(whole.shape)]
        return ir.RankedTensorType.get(shape, whole.element_type)

    # Arguments and results.

    def _divide_arguments(self, spreads: list[Spreads]) -> None:
        described = self._described("arg_attrs")
        divided = divided_weights(self.owner)
        with ir.InsertionPoint.at_block_begin(self.block), self.owner.location:
            for place, (argument, declared) in enumerate(
                zip(self.block.arguments, spreads, strict=True)
            ):
                entries = described[place] if described else {}
                entries.pop(SPREAD, None)
                if declared == self.whole_spreads:
                    continue
                if WEIGHT in entries and ir.StringAttr(entries[WEIGHT]).value not in divided:
                    # It is whole in memory.
                    uses = [(use.owner.operation, use.operand_number) for use in argument.uses]
                    part = self._spread_so(argument, declared)
                    for user, number in uses:
                        user.operands[number] = part
                    continue
                whole = ir.RankedTensorType(argument.type)
                if "hir.sizes" in entries:
                    entries["hir.sizes"] = self._part_sizes(entries["hir.sizes"], whole, declared)
                if self.mesh.uneven(declared, whole.shape):
                    name = entries.get("hir.name")
                    what = (
                        f"argument {place}"
                        if name is None
                        else f"input '{ir.StringAttr(name).value}'"
                    )
                    self._take_uneven(argument, what, whole, declared)
                    continue
                self._note(argument, whole, declared)
                argument.set_type(self._part_type(whole, declared))
        self._describe("arg_attrs", described)
        results = self._described("res_attrs")
        for entries in results:
            entries.pop(SPREAD, None)
        self._describe("res_attrs", results)

    def _take_uneven(
        self, argument: ir.Value, what: str, whole: ir.RankedTensorType, declared: Spreads
    ) -> None:
        """A device is given its own number of elements, and fills them up to as many as others."""
        uses = [(use.owner.operation, use.operand_number) for use in argument.uses]
        part = self._part_type(whole, declared)
        shape = self._given_type(list(part.shape), whole.shape, declared)
        argument.set_type(ir.RankedTensorType.get(shape, whole.element_type))
        self._check_given(what, whole.shape, declared, lambda dim: dim_of(argument, dim))
        filled = self._filled_up(argument, list(part.shape))
        self._note(filled, whole, declared)
        for user, number in uses:
            user.operands[number] = filled

    def _filled_up(self, value: ir.Value, shape: list[int]) -> ir.Value:
        """The tensor with zeros after it, as many as give it these sizes."""
        given = ir.RankedTensorType(value.type)
        if list(given.shape) == shape:
            return value
        highs: list[int] = []
        open_highs: list[ir.Value] = []
        for dim, (size, wanted) in enumerate(zip(given.shape, shape, strict=True)):
            if size == wanted:
                highs.append(0)
            elif size != DYNAMIC:
                highs.append(wanted - size)
            else:
                highs.append(DYNAMIC)
                open_highs.append(arith.subi(index_constant(wanted), dim_of(value, dim)))
        zero = zero_of(given.element_type)
        kind = ir.RankedTensorType.get(shape, given.element_type)
        return padded(value, kind, [0] * given.rank, highs, zero, open_highs)

    def _slice(
        self,
        value: ir.Value,
        shape: list[int],
        starts: Mapping[int, ir.Value],
        sizes: Sequence[ir.Value] = (),
    ) -> ir.Value:
        """The slice of these sizes, of which `sizes` are the open ones; from 0 where not said."""
        given = ir.RankedTensorType(value.type)
        if list(given.shape) == shape and not starts:
            return value
        kind = ir.RankedTensorType.get(shape, given.element_type)
        return part_of(value, kind, sizes, starts)

    def _described(self, which: str) -> list[dict[str, ir.Attribute]]:
        if which not in self.owner.attributes:
            return []
        given = ir.ArrayAttr(self.owner.attributes[which])
        return [{entry.name: entry.attr for entry in ir.DictAttr(each)} for each in given]

    def _describe(self, which: str, described: list[dict[str, ir.Attribute]]) -> None:
        if described:
            said: list[ir.Attribute] = [ir.DictAttr.get(entries) for entries in described]
            self.owner.attributes[which] = ir.ArrayAttr.get(said)

    def _return(self, op: ir.Operation) -> None:
        for number, value in enumerate(op.operands):
            if isinstance(value.type, ir.RankedTensorType):
                op.operands[number] = self._returned(value, self._results[number])

    def _returned(self, value: ir.Value, wanted: Spreads) -> ir.Value:
        """Returns the tensor spread so, of which the devices may be asked to have a sum's parts."""
        value = self._actual(value)
        now = self._spreads_of(value)
        new = [
            axis
            for axis, (here, there) in enumerate(zip(now, wanted, strict=True))
            if there.reduction is not None and here != there
        ]
        before = tuple(Spread() if axis in new else each for axis, each in enumerate(wanted))
        value, whole = self._spread_so(value, before), self._type(value)
        for axis in new:
            reduction = wanted[axis].reduction
            if reduction in _NEUTRAL:
                value = self._first_parts(value, axis, _NEUTRAL[reduction])
        return self._as_given(value, whole.shape, wanted)

    def _as_given(self, value: ir.Value, whole: Sequence[int], spreads: Spreads) -> ir.Value:
        """The elements of the whole that a part has, without what fills it up."""
        given = ir.RankedTensorType(value.type)
        uneven = self.mesh.uneven(spreads, whole)
        if not uneven:
            return value
        shape = self._given_type(list(given.shape), whole, spreads)
        sizes = [
            self._bounds(spreads, dim, whole[dim])[1] if dim in uneven else dim_of(value, dim)
            for dim, size in enumerate(shape)
            if size == DYNAMIC
        ]
        return self._slice(value, shape, {}, sizes)

    def _first_parts(self, value: ir.Value, axis: int, neutral: int) -> ir.Value:
        """The tensor on the first devices along an axis, and what changes nothing on the others."""
        is_first = arith.cmpi(arith.CmpIPredicate.eq, self._place(axis), index_constant(0))
        element = ir.RankedTensorType(value.type).element_type
        (made,) = each_of(
            [value],
            [element],
            lambda given: [arith.select(is_first, given[0], constant(element, neutral))],
        )
        return made

    # Spreading tensors otherwise.

    def _spread_so(self, value: ir.Value, spreads: Spreads) -> ir.Value:
        """Returns the tensor spread so: itself, one made anew, or a hir.reshard of it."""
        value = self._actual(value)
        now = self._spreads_of(value)
        if now == spreads:
            return value
        known = self._resharded.get((value, spreads))
        if known is not None:
            return known
        whole = self._type(value)
        result = (
            self._made_anew(value, whole, spreads)
            or self._own_part(value, whole, spreads)
            or self._reshard(value, whole, spreads)
        )
        self._note(result, whole, spreads)
        self._resharded[value, spreads] = result
        self._there.setdefault(value, set()).add(spreads)
        return result

    def _own_part(
        self, value: ir.Value, whole: ir.RankedTensorType, spreads: Spreads
    ) -> ir.Value | None:
        """Returns the part of what a device has that is left to it, as a slice of that.

        None where it needs another's, or sizes are open.
        """
        given = ir.RankedTensorType(value.type)
        numbers: dict[int, list[int]] = {}
        for axis, (here, there) in enumerate(zip(self._spreads_of(value), spreads, strict=True)):
            if here == there:
                # Outer axes divide first: the parts of inner ones do not lie together then.
                if here.axis in numbers:
                    return None
            elif here.is_whole and there.axis is not None:
                numbers.setdefault(there.axis, []).append(axis)
            else:
                return None
        if DYNAMIC in given.shape:
            return None
        part = list(self._part_type(whole, spreads).shape)
        shape, sizes, starts = [*part], list[ir.Value](), dict[int, ir.Value]()
        for dim, axes in sorted(numbers.items()):
            if not self.mesh.is_even(spreads, dim, whole.shape[dim]):
                shape[dim] = DYNAMIC
                starts[dim], size = self._bounds(spreads, dim, whole.shape[dim])
                sizes.append(size)
                continue
            number = self._place(axes[0])
            for axis in axes[1:]:
                size = index_constant(self.mesh.shape[axis])
                number = arith.addi(arith.muli(number, size), self._place(axis))
            starts[dim] = arith.muli(number, index_constant(part[dim]))
        return self._filled_up(self._slice(value, shape, starts, sizes), part)

    def _reshard(self, value: ir.Value, whole: ir.RankedTensorType, spreads: Spreads) -> ir.Value:
        now = self._spreads_of(value)
        narrow = self._narrow(value) if any(each.reduction for each in now) else None
        if narrow is None:
            return self._resharded_as_it_is(value, whole, spreads)
        wide = whole.element_type
        rounded = each_of([value], [narrow], lambda given: [arith.truncf(narrow, given[0])])[0]
        whole = ir.RankedTensorType.get(whole.shape, narrow)
        self._note(rounded, whole, now)
        combined = self._resharded_as_it_is(rounded, whole, spreads)
        return each_of([combined], [wide], lambda given: [arith.extf(wide, given[0])])[0]

    def _narrow(self, value: ir.Value) -> ir.Type | None:
        """Returns the type of f16 or bf16 that a sum is rounded to, and its factors are of.

        Its parts are rounded to it before they are combined.
        """
        if isinstance(value.owner, ir.Block):
            return None
        op = value.owner.operation
        if not op.name.startswith("linalg.") or not has_tensors_only(op):
            return None
        elements = {
            each.type.element_type
            for each in inputs_of(op)
            if isinstance(each.type, ir.RankedTensorType)
        }
        if len(elements) != 1 or not isinstance(
            ir.RankedTensorType(value.type).element_type, ir.F32Type
        ):
            return None
        (element,) = elements
        is_narrow = isinstance(element, ir.F16Type | ir.BF16Type)
        return element if is_narrow and _is_rounded(value, element, _STEPS_TO_ROUNDING) else None

    def _resharded_as_it_is(
        self, value: ir.Value, whole: ir.RankedTensorType, spreads: Spreads
    ) -> ir.Value:
        now = self._spreads_of(value)
        stop = self._stop(now, spreads, whole.shape)
        if stop != now:
            value = self._resharded_as_it_is(value, whole, stop)
            self._note(value, whole, stop)
            now = stop
        before, then = self._padding(now, spreads, whole.shape)
        value = self._filled_up(value, before)
        part, given = ir.RankedTensorType.get(then, whole.element_type), value.type
        assert isinstance(given, ir.RankedTensorType)
        buffer = ir.Operation.create(
            "bufferization.to_buffer",
            [buffer_type(list(given.shape), given.element_type)],
            [value],
            {"read_only": ir.UnitAttr.get()},
        ).results[0]
        kind = buffer_type(list(part.shape), part.element_type)
        resharded = self._resharding(buffer, now, spreads, kind)
        result = ir.Operation.create(
            "bufferization.to_tensor", [part], [resharded], {"restrict": ir.UnitAttr.get()}
        ).results[0]
        shape = list(self._part_type(whole, spreads).shape)
        sizes = [dim_of(result, dim) for dim, size in enumerate(shape) if size == DYNAMIC]
        return result if shape == then else self._slice(result, shape, {}, sizes)

    def _made_anew(
        self, value: ir.Value, whole: ir.RankedTensorType, spreads: Spreads
    ) -> ir.Value | None:
        """Returns the part of a tensor whose elements are all alike, or do not matter."""
        if isinstance(value.owner, ir.Block):
            return None
        op = value.owner.operation
        if op.name == _EMPTY:
            part = self._part_type(whole, spreads)
            sizes = self._divided_sizes(list(op.operands), whole, spreads)
            return ir.Operation.create(_EMPTY, [part], sizes).results[0]
        if op.name == "linalg.fill" and DYNAMIC in whole.shape:
            begun = self._made_anew(op.operands[1], whole, spreads)
            return None if begun is None else fill(op.operands[0], begun)
        if DYNAMIC in whole.shape:
            return None
        scalar = filled_with(value)
        if scalar is None:
            return None
        empty = ir.Operation.create(_EMPTY, [self._part_type(whole, spreads)], []).results[0]
        return fill(scalar, empty)

    def _is_made_anew(self, value: ir.Value) -> bool:
        if isinstance(value.owner, ir.Block):
            return False
        op = value.owner.operation
        if op.name == "linalg.fill" and DYNAMIC in self._type(value).shape:
            return self._is_made_anew(op.operands[1])
        return op.name == _EMPTY or (
            DYNAMIC not in self._type(value).shape and filled_with(value) is not None
        )

    def _divided_sizes(
        self, sizes: list[ir.Value], whole: ir.RankedTensorType, spreads: Spreads
    ) -> list[ir.Value]:
        """Returns the open sizes of a part, of those of the whole."""
        dims = [dim for dim, size in enumerate(whole.shape) if size == DYNAMIC]
        return [
            as_value(divided(size, self.mesh.parts(spreads, dim)))
            for dim, size in zip(dims, sizes, strict=True)
        ]

    def _actual(self, value: ir.Value) -> ir.Value:
        """Returns the tensor; one of a collapse that is not divided, collapsed of what is whole."""
        op = self._collapses.get(value)
        if op is None:
            return value
        known = self._resharded.get((value, self.whole_spreads))
        if known is None:
            source, whole = op.operands[0], ir.RankedTensorType(value.type)
            pairs = dict(dim_pairs(op, self._type(source), whole))
            kept = tuple(
                Spread() if each.axis is not None and each.axis not in pairs else each
                for each in self._spreads_of(source)
            )
            given = view_spreads([*pairs.items()], kept, self.mesh, self._type(source), whole)
            kept = tuple(
                Spread() if after.is_whole else each
                for each, after in zip(kept, given, strict=True)
            )
            part = self._spread_so(source, kept)
            known = collapsed(part, self._part_type(whole, given), reassociation(op))
            self._resharded[value, self.whole_spreads] = known
            self._note(known, whole, given)
        return known

    # Operations.

    def _divide_at(self, op: ir.Operation) -> None:
        with ir.InsertionPoint(op), op.location:
            self._divide(op)

    def _divide(self, op: ir.Operation) -> None:
        if op.name == "func.return":
            self._return(op)
        elif op.name == "tensor.dim":
            self._divide_dim(op)
        elif op.name in VIEWS:
            self._divide_view(op)
        elif op.name == INSERT:
            self._divide_insert(op)
        elif op.name.startswith("linalg.") and has_tensors_only(op):
            self._divide_linalg(op)
        else:
            self._leave_whole(op)

    def _leave_whole(self, op: ir.Operation) -> None:
        """What is not divided takes whole tensors."""
        for inner in operations_where(op, lambda _: True):
            self._take_whole(inner)

    def _take_whole(self, op: ir.Operation) -> None:
        for number, value in enumerate(op.operands):
            if value in self._collapses or self._spreads_of(value) != self.whole_spreads:
                op.operands[number] = self._spread_so(value, self.whole_spreads)

    def _divide_dim(self, op: ir.Operation) -> None:
        """A size that the program asks for is that of the whole."""
        value, dim = op.operands[0], constant_value(op.operands[1])
        if dim is None or value in self._collapses:
            self._leave_whole(op)
            return
        self._multiply_size(op, dim)

    def _divide_linalg(self, op: ir.Operation) -> None:
        for inner in operations_where(op, lambda each: each != op):
            self._take_whole(inner)
        for number, value in enumerate(op.operands):
            if value in self._collapses:
                if self._unfold(op, number):
                    return
                op.operands[number] = self._actual(value)
        tensors = [each for each in op.operands if isinstance(each.type, ir.RankedTensorType)]
        if all(map(self._is_made_anew, tensors)):
            return
        problem = self._problem(op)
        choice = problem.solve()
        for number, spreads in enumerate(choice.operands):
            if isinstance(op.operands[number].type, ir.RankedTensorType):
                op.operands[number] = self._spread_so(op.operands[number], spreads)
        self._set_results(op, choice)

    def _set_results(self, op: ir.Operation, choice: Choice) -> None:
        first = len(inputs_of(op))
        for number, result in enumerate(op.results):
            spreads = tuple(
                there if there.reduction is not None else here
                for here, there in zip(choice.operands[first + number], choice.result, strict=True)
            )
            whole = ir.RankedTensorType(result.type)
            result.set_type(self._part_type(whole, spreads))
            self._note(result, whole, spreads)

    def _problem(self, op: ir.Operation) -> Problem:
        values = tuple(map(self._value, op.operands))
        whole = ir.RankedTensorType(op.results[0].type)
        keeps: list[bool] = []
        for axis in range(len(self.mesh.shape)):
            partial = [value.spreads[axis].reduction == "sum" for value in values]
            is_kept = any(partial) and is_combined(whole.element_type, "sum")
            keeps.append(is_kept and passes_parts(op, partial))
        result = Value(tuple(whole.shape), self._bytes(op.results[0]), ())
        wish, loops = self._wishes.get(op.results[0]), loops_of(op, self._type)
        work, sizes = Fraction(0), product_sizes(op, self._type)
        if sizes:
            element = ir.RankedTensorType(op.operands[0].type).element_type
            work = work_of(sizes, str(element), self._meanwhile)
        keeping, total = tuple(keeps), is_total(op)
        return Problem(self.mesh, loops, values, result, wish, False, keeping, work, total)

    def _bytes(self, value: ir.Value) -> int:
        """Returns how many bytes of an element devices send where parts of it are combined."""
        element = self._narrow(value) or ir.RankedTensorType(value.type).element_type
        name = "i64" if isinstance(element, ir.IndexType) else str(element)
        return ELEMENT_TYPES[name].bytes

    def _value(self, value: ir.Value) -> Value:
        if not isinstance(value.type, ir.RankedTensorType):
            return Value((), 0, self.whole_spreads)
        whole = self._type(value)
        if self._is_made_anew(value):
            return Value(tuple(whole.shape), 0, self._spreads_of(value))
        there = frozenset(self._there.get(value, ()))
        size = self._bytes(value)
        waiting = set(self._collapses.values())
        users = len({use.owner.operation for use in value.uses} - waiting)
        return Value(tuple(whole.shape), size, self._spreads_of(value), there, max(users, 1))

    # Views.

    def _divide_view(self, op: ir.Operation) -> None:
        if op.operands[0] in self._collapses and self._joined(op):
            return
        if op.name in ("tensor.pad", "tensor.concat"):
            for number, value in enumerate(op.operands):
                op.operands[number] = self._without_parts(value)
        tensors = [
            number
            for number, value in enumerate(op.operands)
            if isinstance(value.type, ir.RankedTensorType)
        ]
        for number in tensors:
            op.operands[number] = self._actual(op.operands[number])
        # Of several, all are spread as the first that is.
        source = next(
            (each for each in op.operands if self._spreads_of(each) != self.whole_spreads),
            op.operands[0],
        )
        spreads, view = self._spreads_of(source), ir.RankedTensorType(op.results[0].type)
        pairs = dim_pairs(op, self._type(source), view)
        if op.name == "tensor.pad" and _counts_places(op):
            pairs = []
        given = view_spreads(pairs, spreads, self.mesh, self._type(source), view)
        if op.name == COLLAPSE and given != spreads and self._waits(op, spreads, given):
            self._collapses[op.results[0]] = op
            return
        needed = tuple(
            Spread() if after.is_whole else each for each, after in zip(spreads, given, strict=True)
        )
        for number in tensors:
            op.operands[number] = self._spread_so(op.operands[number], needed)
        self._note(op.results[0], view, given)
        if given != self.whole_spreads:
            self._divide_sizes(op, view, given)
            op.results[0].set_type(self._part_type(view, given))

    def _divide_insert(self, op: ir.Operation) -> None:
        """A slice of all rows that devices have parts of: each inserts its own."""
        part, into = map(self._actual, list(op.operands)[:2])
        whole = self._type(into)
        dims = inserted_dims(op, self._type(part), whole)
        spreads = self._spreads_of(into)
        if self._is_made_anew(into):
            back = {after: before for before, after in dims.items()}
            spreads = renamed(self._spreads_of(part), back)
        kept = tuple(each if each.axis in dims else Spread() for each in spreads)
        op.operands[0] = self._spread_so(part, renamed(kept, dims))
        op.operands[1] = self._spread_so(into, kept)
        self._note(op.results[0], whole, kept)
        if kept != self.whole_spreads:
            self._divide_sizes(op, whole, kept)
            op.results[0].set_type(self._part_type(whole, kept))

    def _without_parts(self, value: ir.Value) -> ir.Value:
        if not isinstance(value.type, ir.RankedTensorType):
            return value
        now = self._spreads_of(value)
        combined = tuple(Spread() if each.reduction is not None else each for each in now)
        return value if combined == now else self._spread_so(value, combined)

    def _waits(self, op: ir.Operation, spreads: Spreads, given: Spreads) -> bool:
        """Whether what takes a collapse may take what is collapsed: all of its sizes are known."""
        return DYNAMIC not in self._type(op.operands[0]).shape and any(
            here.axis is not None and there.is_whole
            for here, there in zip(spreads, given, strict=True)
        )

    def _divide_sizes(self, op: ir.Operation, view: ir.RankedTensorType, spreads: Spreads) -> None:
        """Sizes that a view says are those of a part."""
        for name in ("static_output_shape", "static_sizes"):
            if name not in op.attributes:
                continue
            sizes = list(ir.DenseI64ArrayAttr(op.attributes[name]))
            part = self._part_type(view, spreads).shape
            now = [
                part[dim] if size != DYNAMIC and self.mesh.parts(spreads, dim) > 1 else size
                for dim, size in enumerate(sizes)
            ]
            op.attributes[name] = ir.DenseI64ArrayAttr.get(now)
        if op.name == EXPAND:
            sizes = self._divided_sizes(list(op.operands)[1:], view, spreads)
            for number, size in enumerate(sizes, 1):
                op.operands[number] = size

    # Collapses that what takes them goes without.

    def _unfold(self, op: ir.Operation, number: int) -> bool:
        """Has a linalg operation take what is collapsed. Returns whether that can be."""
        op_collapse = self._collapses[op.operands[number]]
        before = op_collapse.operands[0]
        types = [
            self._type(each) if isinstance(each.type, ir.RankedTensorType) else None
            for each in op.operands
        ]
        operands = list(op.operands)

        def source(place: int, groups: Groups, sizes: list[int]) -> ir.Value | None:
            each = operands[place]
            waiting = self._collapses.get(each)
            if waiting is not None:
                there = waiting.operands[0]
                is_same = reassociation(waiting) == groups and self._type(there).shape == sizes
                return there if is_same else None
            if not self._is_made_anew(each):
                return None
            kind = ir.RankedTensorType.get(sizes, self._type(each).element_type)
            empty = ir.Operation.create(_EMPTY, [kind], []).results[0]
            scalar = filled_with(each)
            return empty if scalar is None else fill(scalar, empty)

        made = unfold(
            op, self._type(before).shape, reassociation(op_collapse), number, types, source
        )
        if made is None:
            return False
        for old, new in zip(op.results, made.results, strict=True):
            old.replace_all_uses_with(new)
        wish = self._wishes.get(op.results[0])
        if wish is not None:
            outer = {dim: group[0] for dim, group in enumerate(made.groups)}
            self._wishes[made.results[0]] = wish
            self._wishes[made.generic.results[0]] = Wish(renamed(wish.spreads, outer), wish.firm)
        op.erase()
        for each in made.operations:
            self._divide_at(each)
        return True

    def _joined(self, op: ir.Operation) -> bool:
        """Has a reshape of a collapse take what is collapsed. Returns whether that can be."""
        waiting = self._collapses[op.operands[0]]
        before, view = waiting.operands[0], ir.RankedTensorType(op.results[0].type)
        whole = self._type(before)
        inner = reassociation(waiting)
        if op.name == COLLAPSE:
            groups = [[dim for each in group for dim in inner[each]] for group in reassociation(op)]
            made = [defining_operation(collapsed(before, view, groups))]
        elif op.name == EXPAND and DYNAMIC not in view.shape:
            found = expanded_then_collapsed(before, whole, inner, view, reassociation(op))
            if found is None:
                return False
            made = found
        else:
            return False
        result = made[-1].results[0] if made else before
        op.results[0].replace_all_uses_with(result)
        if op.results[0] in self._wishes:
            self._wishes.setdefault(result, self._wishes[op.results[0]])
        op.erase()
        for each in made:
            self._divide_at(each)
        return True


def _is_rounded(value: ir.Value, element: ir.Type, steps: int) -> bool:
    """Whether all that is computed of a tensor is rounded to a type within a few operations."""
    users = [use.owner.operation for use in value.uses]
    return bool(users) and all(
        op.name == GENERIC
        and len(op.results) == 1
        and len(parallel_loops(op)) == len(ir.ArrayAttr(op.attributes["iterator_types"]))
        and (
            ir.RankedTensorType(op.results[0].type).element_type == element
            or (steps > 1 and _is_rounded(op.results[0], element, steps - 1))
        )
        for op in users
    )


def _counts_places(op: ir.Operation) -> bool:
    """Whether what a tensor.pad fills in depends on where."""
    return any(next(iter(each.uses), None) for each in op.regions[0].blocks[0].arguments)
