"""The compute operations of a program's builder."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...mlir import ir
from ..element_rules import ElementError, element_results, kind_takes, operand_element, takes_for
from ..element_types import ELEMENT_TYPES, ElementType
from ..kinds import BINARY, REDUCE, TERNARY, UNARY, Gives, Kind
from ..layout import LayoutError, buffer_type
from ..shapes import broadcast_shape, linear_shape, matmul_shape, reduce_shape
from .broadcasting import broadcast_extents
from .buffer import Buffer
from .errors import BuildError
from .kind_methods import KindMethods
from .scalars import Scalars
from .sizes import Extent

if TYPE_CHECKING:
    from .buffer import Operand
    from .program import Program

# By the number of operands.
_OPERATIONS = {1: ("hir.unary", UNARY), 2: ("hir.binary", BINARY), 3: ("hir.ternary", TERNARY)}


class Computing(KindMethods, Scalars):
    """Elementwise operations, reductions, products and copies.

    Each takes `out`, the buffer to write to, which it returns; without it the result is fresh.
    """

    def kinds_of(self) -> tuple[Program, tuple[Buffer, ...]]:
        return self._program(), ()

    @contextmanager
    def over_streams(self, axis: int) -> Generator[None, None, None]:
        """Operations in the `with` have axis `axis` of their results spread over streams."""
        before, self.spread_axis = self.spread_axis, axis
        try:
            yield
        finally:
            self.spread_axis = before

    def compute_kind(
        self,
        kind: str,
        *operands: Operand,
        out: Buffer | None = None,
        stream_axis: int | None = None,
    ) -> Any:
        """Returns an elementwise kind of operands that broadcast; of scalars alone a scalar."""
        self.require_operands(kind, len(operands))
        name, kinds = _OPERATIONS[len(operands)]
        if kind == "cast":
            raise BuildError("cast takes the element type to cast to", 'write p.cast(x, "f16")')
        if out is None and not any(isinstance(operand, Buffer) for operand in operands):
            if stream_axis is not None:
                raise BuildError(f"{kind} of scalars is a scalar, which has no stream_axis")
            scalars: Any = operands
            return self.compute_scalar(kind, *scalars)
        chosen = operands[1:] if kind == "where" else operands
        given = self.element_of(out) if isinstance(out, Buffer) else None
        element = self._operand_element(kind, kinds[kind], chosen, given)
        values = [self.operand_value(operand, element) for operand in chosen]
        if kind == "where":
            values.insert(0, self._mask_value(operands[0]))
        buffers = [operand for operand in operands if isinstance(operand, Buffer)]
        with _refused_as(kind):
            shape = broadcast_shape([buffer.type.shape for buffer in buffers])
        extents = broadcast_extents([buffer.shape for buffer in buffers])
        result = element_results(kinds[kind], element)[0]
        attributes = {"kind": self.string(kind)}
        return self._result(name, values, attributes, shape, extents, result, out, stream_axis)

    def cast(
        self,
        x: Buffer,
        to: str | None = None,
        out: Buffer | None = None,
        stream_axis: int | None = None,
    ) -> Buffer:
        """Returns the elements of `x` as another type, by default that of `out`."""
        value = self.buffer_value(x)
        self._require_agreement("to", to, out)
        if to is not None:
            element = self.element(to)[0]
        elif out is not None:
            element = self.element_of(out)
        else:
            raise BuildError("cast takes the element type to cast to", 'write p.cast(x, "f16")')
        return self._result(
            "hir.unary",
            [value],
            {"kind": self.string("cast")},
            x.type.shape,
            x.shape,
            element,
            out,
            stream_axis,
        )

    def set(
        self,
        source: Operand,
        element: str | None = None,
        out: Buffer | None = None,
        stream_axis: int | None = None,
    ) -> Buffer:
        """Copies `source` to `out`, or into a fresh packed buffer, of the type `element`."""
        self._require_agreement("element", element, out)
        if isinstance(source, Buffer):
            result = self.element(source.element if element is None else element)[0]
            value = self.buffer_value(source, "the source")
            shape, extents = source.type.shape, source.shape
        elif out is None:
            raise BuildError(
                "a scalar is copied into a buffer that is there", "p.set(0.0, out=buffer)"
            )
        else:
            result = self.element_of(out)
            value = self.operand_value(source, result)
            shape, extents = [], ()
        return self._result("hir.set", [value], {}, shape, extents, result, out, stream_axis)

    def reduce(
        self,
        kind: str,
        x: Buffer,
        axes: int | Sequence[int] | None = None,
        keep_dims: bool = False,
        element: str | None = None,
        out: Buffer | None = None,
        stream_axis: int | None = None,
    ) -> Buffer:
        """Returns a reduction over `axes`, by default all. Sums of integers give
        i64, or `element`.
        """
        value = self.buffer_value(x)
        self._require_agreement("element", element, out)
        if kind not in REDUCE:
            raise BuildError(f"a reduction is one of {', '.join(REDUCE)}, not {kind!r}")
        operand = self._operand_element(kind, REDUCE[kind], [x], None)
        given = [axes] if isinstance(axes, int) else list(axes or ())
        if axes is not None and not given:
            raise BuildError("a reduction over no axes", "leave `axes` out to reduce over all")
        numbers = [axis + x.rank if axis < 0 else axis for axis in given]
        with _refused_as(kind):
            shape = reduce_shape(x.type.shape, numbers, keep_dims)
        reduced = set(numbers) or set(range(x.rank))
        extents: list[Extent] = []
        for axis, extent in enumerate(x.shape):
            if axis not in reduced:
                extents.append(extent)
            elif keep_dims:
                extents.append(1)
        attributes = {"kind": self.string(kind), "axes": self.integers(numbers)}
        if keep_dims:
            attributes["keep_dims"] = self.unit()
        default = _reduced(REDUCE[kind], operand)
        result = default if element is None else self.element(element)[0]
        return self._result(
            "hir.reduce", [value], attributes, shape, extents, result, out, stream_axis
        )

    def matmul(
        self,
        x: Buffer,
        y: Buffer,
        element: str | None = None,
        out: Buffer | None = None,
        stream_axis: int | None = None,
        overlap_steps: int | None = None,
    ) -> Buffer:
        """Returns the product of (..., m, k) and (..., k, n); of the operands' type,
        or `element`.

        In `overlap_steps` it overlaps with the communication of its rows.
        """
        values = [self.buffer_value(x), self.buffer_value(y)]
        self._require_agreement("element", element, out)
        with _refused_as("matmul"):
            shape = matmul_shape(x.type.shape, y.type.shape)
        extents = [*broadcast_extents([x.shape[:-2], y.shape[:-2]]), x.shape[-2], y.shape[-1]]
        result = self._product_element("matmul", x, y, element)
        steps = self._steps(overlap_steps)
        return self._result("hir.matmul", values, steps, shape, extents, result, out, stream_axis)

    def linear(
        self,
        x: Buffer,
        weight: Buffer,
        bias: Buffer | None = None,
        element: str | None = None,
        out: Buffer | None = None,
        stream_axis: int | None = None,
        overlap_steps: int | None = None,
    ) -> Buffer:
        """(..., k) times the transpose of (n, k), plus a bias of (n) where there is one.

        In `overlap_steps` it overlaps with the communication of its rows.
        """
        values = [self.buffer_value(x), self.buffer_value(weight)]
        self._require_agreement("element", element, out)
        if bias is not None:
            values.append(self.buffer_value(bias, "the bias"))
        with _refused_as("linear"):
            shape = linear_shape(
                x.type.shape, weight.type.shape, None if bias is None else bias.type.shape
            )
        segments = [1, 1, int(bias is not None), int(out is not None)]
        sizes = ir.DenseI32ArrayAttr.get(segments, self.context)
        extents = [*x.shape[:-1], weight.shape[0]]
        result = self._product_element("linear", x, weight, element)
        return self._result(
            "hir.linear",
            values,
            {"operandSegmentSizes": sizes, **self._steps(overlap_steps)},
            shape,
            extents,
            result,
            out,
            stream_axis,
        )

    def _steps(self, steps: int | None) -> dict[str, ir.Attribute]:
        return {} if steps is None else {"overlap_steps": self.integer(steps)}

    def _result(
        self,
        name: str,
        values: list[ir.Value],
        attributes: Mapping[str, ir.Attribute],
        shape: Sequence[int],
        extents: Sequence[Extent | None],
        element: ElementType,
        out: Buffer | None,
        stream_axis: int | None,
    ) -> Buffer:
        axis = self.spread_axis if stream_axis is None else stream_axis
        if axis is not None:
            rank = len(shape) if out is None else out.rank
            if not -rank <= axis < rank:
                raise BuildError(
                    f"stream axis {axis} is out of range for {name}, whose result has {rank} dims"
                )
            attributes = {**attributes, "stream_axis": self.integer(axis % rank)}
        if out is not None:
            self.emit(name, [*values, self.buffer_value(out, "out")], [], attributes)
            return out
        result = buffer_type(shape, self.type(element.name))
        return self.new_buffer(self.value(name, values, result, attributes), extents)

    def _operand_element(
        self, kind: str, rule: Kind, operands: Sequence[Operand], given: ElementType | None
    ) -> ElementType:
        """Returns the operands' element type. BuildError: they differ, or are not for the kind."""
        buffers = [self.element_of(each) for each in operands if isinstance(each, Buffer)]
        follows = given if rule.gives == Gives.SAME else None
        try:
            element = operand_element(buffers, [] if follows else [ELEMENT_TYPES["f32"]], follows)
        except ElementError:
            names = " and ".join(dict.fromkeys(each.name for each in buffers))
            raise BuildError(
                f"{kind} takes operands of one element type, not {names}",
                f'x.cast("{buffers[0].name}") converts',
            ) from None
        if not kind_takes(rule, element):
            raise BuildError(f"{kind} takes {takes_for(rule)}, not {element.name}")
        return element

    def _mask_value(self, mask: Operand) -> ir.Value:
        if isinstance(mask, Buffer):
            if mask.element != "i1":
                raise BuildError(
                    f"where takes a buffer of i1 first, not of {mask.element}", "x != 0 makes one"
                )
            return self.buffer_value(mask, "the mask")
        return self.condition_value(mask)

    def _product_element(self, name: str, x: Buffer, y: Buffer, element: str | None) -> ElementType:
        if x.element != y.element:
            raise BuildError(
                f"{name} takes operands of one element type, not {x.element} and {y.element}",
                f'y.cast("{x.element}") converts',
            )
        return self.element(x.element if element is None else element)[0]

    def _require_agreement(self, name: str, element: str | None, out: Buffer | None) -> None:
        """Refuses an element type that is not that of the buffer to write to."""
        if out is None or element is None or self.element(element)[0] == self.element_of(out):
            return
        raise BuildError(
            f"{name} is {element}, and `out` has elements of {out.element}",
            f"leave out `{name}`: what is written is as `out` is",
        )


def _reduced(rule: Kind, element: ElementType) -> ElementType:
    """Returns what a reduction gives by default: sums of integers are i64, as in torch."""
    results = element_results(rule, element)
    wide = ELEMENT_TYPES["i64"]
    return wide if rule.gives == Gives.SUM and wide in results else results[0]


@contextmanager
def _refused_as(kind: str) -> Generator[None, None, None]:
    """Sizes that do not fit become an error of the builder's."""
    try:
        yield
    except LayoutError as error:
        raise BuildError(f"{kind}: {error}") from None
