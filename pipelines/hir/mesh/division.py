"""Rewriting a program over a mesh to what each of its devices does."""

from __future__ import annotations

from fractions import Fraction

from ....dialects.hir.element_types import ELEMENT_TYPES
from ....dialects.hir.layout import (
    DYNAMIC,
    LayoutError,
    buffer_type,
    has_identity_layout,
    strides_and_offset,
)
from ....dialects.hir.mesh import Mesh, Spreads
from ....dialects.hir.program_mesh import input_spreads, is_combined, spreads_of
from ....dialects.hir.refusal import constant_value
from ....dialects.mlir import ir
from ...pass_base import fail
from ...rewriting import index_constant, zero_of
from ...walking import defining_op, operations_where
from ...weights import divided_weights
from ..communication.device_parts import as_value, copy, divided, new_packed, packed, sizes_of
from ..compute_ops import COMPUTE_OPS, destination_of, inputs_of, output_of
from ..fresh_buffers import allocate
from ..memory.effects import effects_of
from ..memory.owners import VIEWS, is_buffer
from ..runtime_sizes import size_value
from ..view_ops import slice_between
from .choice import Meanwhile, Problem, Value, work_of
from .loops import is_total, loops_of, passes_parts
from .part_types import local_shape, local_type, view_type
from .rewriting import MeshRewriting
from .views import view_spreads
from .wishes import Wish, find_wishes


class Division(MeshRewriting[ir.MemRefType]):
    """A program over a mesh while it is rewritten, from its first operation to its last."""

    def __init__(self, program: ir.Operation, mesh: Mesh, meanwhile: Meanwhile) -> None:
        super().__init__(program, mesh)
        self._meanwhile = meanwhile
        self._wishes = find_wishes(self.block, mesh)
        self._written = self._find_written()

    def run(self) -> None:
        """Rewrites the program."""
        operations = [child.operation for child in self.block]
        with ir.InsertionPoint.at_block_begin(self.block), self.owner.location:
            for number, argument in enumerate(self.block.arguments):
                if is_buffer(argument):
                    self._divide_input(number, argument)
        # The outputs end the program: what they take comes before the first of them.
        first: ir.Operation | None = None
        for op in operations:
            if op.name == "hir.output":
                first = first or op
            with ir.InsertionPoint(first or op), op.location:
                self._divide(op)
        outputs = [
            op.operation.operands[0].type for op in self.block if op.operation.name == "hir.output"
        ]
        self._finish("mesh", outputs)

    # What is known of values.

    def whole_type(self, value: ir.Value) -> ir.MemRefType:
        """Returns the type of the whole of a buffer."""
        return self._whole.get(value) or ir.MemRefType(value.type)

    def _find_written(self) -> set[ir.Value]:
        """Returns the buffers that something else than what makes them writes to."""
        found: set[ir.Value] = set()
        for op in operations_where(self.owner, lambda inner: inner != self.owner):
            for value in effects_of(op).writes:
                found.add(_root(value))
        return found

    # Inputs and outputs.

    def _divide_input(self, number: int, argument: ir.Value) -> None:
        spreads = input_spreads(self.owner, self.mesh, number)
        whole = ir.MemRefType(argument.type)
        self._note(argument, whole, spreads)
        if "inputs" in self.owner.attributes:
            self._describe(number, whole, spreads)
        if spreads == self.whole_spreads:
            return
        if argument in self._written:
            fail(
                self.owner,
                f"input {number} is spread over the mesh and written in place: what is written to "
                "is whole on every device",
            )
        if self._is_whole_weight(number):
            self._note(argument, whole, self.whole_spreads)
            uses = [(use.owner.operation, use.operand_number) for use in argument.uses]
            part = self._spread_so(argument, spreads)
            for user, place in uses:
                user.operands[place] = part
            return
        try:
            part = local_type(whole, spreads, self.mesh)
        except LayoutError as error:
            fail(self.owner, f"input {number}: {error}")
        if self.mesh.uneven(spreads, whole.shape):
            self._take_uneven(number, argument, whole, spreads)
        else:
            argument.set_type(part)

    def _take_uneven(
        self, number: int, argument: ir.Value, whole: ir.MemRefType, spreads: Spreads
    ) -> None:
        """A device is given its own number of elements, and fills them up to as many as others."""
        described = ir.DictAttr(ir.ArrayAttr(self.owner.attributes["inputs"])[number])
        if "state" in described:
            dim = self.mesh.uneven(spreads, whole.shape)[0]
            text = self.mesh.uneven_text(spreads, dim, whole.shape[dim])
            fail(self.owner, f"input {number} is state: {text}; leave it whole")
        name = _name_of(described, number)
        uses = [(use.owner.operation, use.operand_number) for use in argument.uses]
        part = local_shape(whole, spreads, self.mesh)
        shape = self._given_type(part, whole.shape, spreads)
        strides, offset = strides_and_offset(whole)
        if has_identity_layout(whole):
            argument.set_type(buffer_type(shape, whole.element_type))
        else:
            open_strides = [DYNAMIC if stride != 1 else 1 for stride in strides]
            argument.set_type(buffer_type(shape, whole.element_type, open_strides, offset))
        self._check_given(
            f"input '{name}'", whole.shape, spreads, lambda dim: size_value(argument, dim)
        )
        filled = self._filled_up(argument, part)
        self._note(filled, whole, spreads)
        for user, place in uses:
            user.operands[place] = filled

    def _filled_up(self, value: ir.Value, shape: list[int]) -> ir.Value:
        """The buffer with zeros after it, as many as give it these sizes."""
        given = ir.MemRefType(value.type)
        if list(given.shape) == shape:
            return value
        kind = buffer_type(shape, given.element_type)
        sizes = [size_value(value, dim) for dim, size in enumerate(shape) if size == DYNAMIC]
        filled = allocate(kind, sizes)
        ir.Operation.create("hir.set", operands=[zero_of(given.element_type), filled])
        copy(value, self._prefix(filled, value, list(given.shape)))
        return filled

    def _prefix(self, value: ir.Value, of: ir.Value, shape: list[int]) -> ir.Value:
        """The first elements of a buffer along each dim, as many as another has."""
        for dim, size in enumerate(shape):
            if size != DYNAMIC and size != ir.MemRefType(value.type).shape[dim]:
                value = slice_between(value, dim, index_constant(0), index_constant(size), size)
            elif size == DYNAMIC and ir.MemRefType(value.type).shape[dim] != DYNAMIC:
                value = slice_between(value, dim, index_constant(0), size_value(of, dim))
        return value

    def _is_whole_weight(self, number: int) -> bool:
        """Returns whether an input is a weight of which every device has all."""
        described = ir.DictAttr(ir.ArrayAttr(self.owner.attributes["inputs"])[number])
        if "weight" not in described:
            return False
        return ir.StringAttr(described["weight"]).value not in divided_weights(self.owner)

    def _describe(self, number: int, whole: ir.MemRefType, spreads: Spreads) -> None:
        """Writes what an input's description says of its sizes as those of a part."""
        inputs = list(ir.ArrayAttr(self.owner.attributes["inputs"]))
        entries = {entry.name: entry.attr for entry in ir.DictAttr(inputs[number])}
        entries.pop("spread", None)
        if "sizes" in entries:
            entries["sizes"] = self._part_sizes(entries["sizes"], whole, spreads)
        inputs[number] = ir.DictAttr.get(entries)
        self.owner.attributes["inputs"] = ir.ArrayAttr.get(inputs)

    def _divide_output(self, op: ir.Operation) -> None:
        value = op.operands[0]
        if is_buffer(value):
            rank = self.whole_type(value).rank
            wanted = spreads_of(op.attributes.get("spread"), rank, self.mesh)
            op.operands[0] = self._as_given(self._spread_so(value, wanted), wanted)
        if "spread" in op.attributes:
            del op.attributes["spread"]

    def _as_given(self, value: ir.Value, spreads: Spreads) -> ir.Value:
        """A buffer of the elements of the whole that a part has, without what fills it up."""
        whole = self.whole_type(value).shape
        uneven = self.mesh.uneven(spreads, whole)
        if not uneven:
            return value
        part = value
        for dim in uneven:
            _, size = self._bounds(spreads, dim, whole[dim])
            part = slice_between(part, dim, index_constant(0), size)
        fresh = new_packed(sizes_of(part), ir.MemRefType(part.type).element_type)
        copy(part, fresh)
        return fresh

    # Operations.

    def _divide(self, op: ir.Operation) -> None:
        if op.name == "hir.output":
            self._divide_output(op)
        elif op.name in COMPUTE_OPS:
            self._divide_compute(op)
        elif op.name in VIEWS:
            self._divide_view(op)
        else:
            self._leave_whole(op)

    def _spread_so(self, value: ir.Value, spreads: Spreads) -> ir.Value:
        """Returns the buffer spread so: itself, or a hir.reshard of it."""
        now = self._spreads_of(value)
        if now == spreads:
            return value
        known = self._resharded.get((value, spreads))
        if known is not None:
            return known
        whole = self.whole_type(value)
        result = self._respread(value, whole, now, spreads)
        self._note(result, whole, spreads)
        if _root(value) not in self._written:
            self._resharded[value, spreads] = result
        return result

    def _respread(
        self, value: ir.Value, whole: ir.MemRefType, now: Spreads, spreads: Spreads
    ) -> ir.Value:
        stop = self._stop(now, spreads, whole.shape)
        if stop != now:
            value, now = self._respread(value, whole, now, stop), stop
        before, then = self._padding(now, spreads, whole.shape)
        part = buffer_type(then, whole.element_type)
        result = self._resharding(self._filled_up(value, before), now, spreads, part)
        shape = local_shape(whole, spreads, self.mesh)
        return result if shape == then else packed(self._prefix(result, result, shape))

    def _value(self, value: ir.Value) -> Value:
        if not is_buffer(value):
            return Value((), 0, self.whole_spreads)
        whole = self.whole_type(value)
        size = ELEMENT_TYPES[str(whole.element_type)].bytes
        return Value(tuple(whole.shape), size, self._spreads_of(value))

    def _divide_compute(self, op: ir.Operation) -> None:
        inputs, output = inputs_of(op), output_of(op)
        whole = self.whole_type(output)
        problem, declared = self._problem(op)
        choice = problem.solve()
        is_shared = any(loop is not None and loop.reduction for loop in choice.loops)
        if is_shared and len(inputs) == 3 and op.name == "hir.linear":
            self._add_bias_apart(op)
            return
        for number, spreads in enumerate(choice.operands):
            if is_buffer(inputs[number]):
                op.operands[number] = self._spread_so(inputs[number], spreads)
        if destination_of(op) is not None:
            return
        if "spread" in op.attributes:
            del op.attributes["spread"]
        output.set_type(local_type(whole, choice.result, self.mesh))
        self._note(output, whole, choice.result)
        if declared is not None and declared != choice.result:
            self._reshard_result(op, declared)

    def _problem(self, op: ir.Operation) -> tuple[Problem, Spreads | None]:
        """How an operation may be divided, and the spreads that its result is declared to have."""
        inputs, output, destination = inputs_of(op), output_of(op), destination_of(op)
        whole, declared = self.whole_type(output), None
        wish, required = self._wishes.get(output), False
        if "spread" in op.attributes:
            declared = spreads_of(op.attributes["spread"], whole.rank, self.mesh)
            wish = Wish(declared)
        if destination is not None:
            wish, required = Wish(self._spreads_of(destination)), True
        elif output in self._written:
            wish, required = Wish(self.whole_spreads), True
        values = tuple(map(self._value, inputs))
        keeps: list[bool] = []
        for axis in range(len(self.mesh.shape)):
            partial = [value.spreads[axis].reduction == "sum" for value in values]
            is_kept = any(partial) and is_combined(whole.element_type, "sum")
            keeps.append(is_kept and passes_parts(op, partial))
        result = Value(tuple(whole.shape), ELEMENT_TYPES[str(whole.element_type)].bytes, ())
        loops = loops_of(op, self.whole_type)
        work = Fraction(0)
        if op.name in ("hir.matmul", "hir.linear"):
            factor = self.whole_type(inputs[0])
            sizes = [*whole.shape, factor.shape[-1]]
            work = work_of(sizes, str(factor.element_type), self._meanwhile)
        total = is_total(op)
        problem = Problem(
            self.mesh, loops, values, result, wish, required, tuple(keeps), work, total
        )
        return problem, declared

    def _reshard_result(self, op: ir.Operation, spreads: Spreads) -> None:
        """Uses of the result take it spread as it is declared to be."""
        result = op.results[0]
        uses = [(use.owner.operation, use.operand_number) for use in result.uses]
        with ir.InsertionPoint.after(op):
            other = self._spread_so(result, spreads)
        for user, number in uses:
            user.operands[number] = other

    def _add_bias_apart(self, op: ir.Operation) -> None:
        """Turns a linear whose sum devices share into one without bias, and an addition."""
        x, weight, bias = inputs_of(op)
        output = op.results[0]
        segments = ir.DenseI32ArrayAttr.get([1, 1, 0, 0])
        product = ir.Operation.create(
            "hir.linear",
            results=[output.type],
            operands=[x, weight],
            attributes={"operandSegmentSizes": segments},
        )
        if "overlap_steps" in op.attributes:
            product.attributes["overlap_steps"] = op.attributes["overlap_steps"]
        total = ir.Operation.create(
            "hir.binary",
            results=[output.type],
            operands=[product.results[0], bias],
            attributes={"kind": ir.StringAttr.get("add")},
        )
        for name in ("spread", "stream_axis"):
            if name in op.attributes:
                total.attributes[name] = op.attributes[name]
        if output in self._wishes:
            self._wishes[total.results[0]] = self._wishes[output]
            self._wishes[product.results[0]] = self._wishes[output]
        output.replace_all_uses_with(total.results[0])
        op.erase()
        for each in (product, total):
            with ir.InsertionPoint(each), each.location:
                self._divide_compute(each)

    def _divide_view(self, op: ir.Operation) -> None:
        source, view = op.operands[0], op.results[0]
        whole, spreads = self.whole_type(source), self._spreads_of(source)
        whole_view = ir.MemRefType(view.type)
        needed, given = view_spreads(op, spreads, self.mesh, whole, whole_view)
        part = self._spread_so(source, needed)
        op.operands[0] = part
        self._note(view, whole_view, given)
        if given == self.whole_spreads and part == source:
            return
        self._divide_sizes(op, whole_view, given)
        shape = local_shape(whole_view, given, self.mesh)
        try:
            inferred = view_type(op, ir.MemRefType(part.type), shape)
        except LayoutError:
            op.operands[0] = part = packed(part)
            inferred = view_type(op, ir.MemRefType(part.type), shape)
        strides, offset = strides_and_offset(inferred)
        view.set_type(
            buffer_type(shape, whole_view.element_type)
            if has_identity_layout(inferred)
            else buffer_type(shape, whole_view.element_type, strides, offset)
        )

    def _divide_sizes(self, op: ir.Operation, whole: ir.MemRefType, spreads: Spreads) -> None:
        """The sizes that a view's type leaves open are those of a part."""
        if op.name not in ("hir.expand", "hir.reshape"):
            return
        number = 1
        for dim, size in enumerate(whole.shape):
            if size == DYNAMIC:
                parts = self.mesh.parts(spreads, dim)
                op.operands[number] = as_value(divided(op.operands[number], parts))
                number += 1

    def _leave_whole(self, op: ir.Operation) -> None:
        """What is not divided takes whole buffers, and writes to whole ones alone."""
        for inner in operations_where(op, lambda _: True):
            written = set(effects_of(inner).writes)
            for number, value in enumerate(inner.operands):
                if self._spreads_of(value) == self.whole_spreads:
                    continue
                if inner.name == "memref.dim":
                    self._multiply_dim(inner)
                elif value in written:
                    fail(
                        inner,
                        f"{inner.name} writes to a buffer that is spread over the mesh, "
                        f"{_show(self._spreads_of(value))}: give it one that is whole",
                    )
                elif inner.name != "hir.deallocate":
                    inner.operands[number] = self._spread_so(value, self.whole_spreads)

    def _multiply_dim(self, op: ir.Operation) -> None:
        dim = constant_value(op.operands[1])
        if dim is None:
            fail(op, "which size is asked for is known before the program runs, over a mesh")
        self._multiply_size(op, dim)


def _name_of(described: ir.DictAttr, number: int) -> str:
    return ir.StringAttr(described["name"]).value if "name" in described else str(number)


def _root(value: ir.Value) -> ir.Value:
    """Returns the buffer that a view is of."""
    op = defining_op(value)
    while op is not None and op.name in VIEWS:
        value = op.operands[0]
        op = defining_op(value)
    return value


def _show(spreads: Spreads | None) -> str:
    return "[" + ", ".join(map(str, spreads or ())) + "]"
