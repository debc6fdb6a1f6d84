"""Writing operations into a program: insertion points, locations, and which values are visible."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar, cast

from ...mlir import ir
from ...records import dataclass
from .caller import Place, calling_place
from .errors import BuildError
from .sizes import Atom, Atoms, Extent, Size, atom_size, ordered, terms_of
from .verification import verify

if TYPE_CHECKING:
    from .scalar import Scalar

_Result = TypeVar("_Result")
_SIZE_OPERATIONS = {
    "floordiv": "arith.floordivsi",
    "ceildiv": "arith.ceildivsi",
    "min": "arith.minsi",
    "max": "arith.maxsi",
}


@dataclass(eq=False)
class Scope:
    """A block that operations go to. `computed` are values that are there, by what they are."""

    block: ir.Block
    name: str
    place: Place
    computed: dict[Hashable, ir.Value] = field(default_factory=dict[Hashable, ir.Value])


class Emitter:
    """What every part of a program's builder writes with."""

    def __init__(self, context: ir.Context, name: str) -> None:
        self.context = context
        self.name = name
        self.atoms = Atoms()
        # How an atom's value comes about, and the scope in which it is visible.
        self._sources: dict[Atom, tuple[Scope, Callable[[], ir.Value]]] = {}
        self._open: list[Scope] = []
        self._last_of_prologue: ir.Operation | None = None

    # Scopes.

    @property
    def scope(self) -> Scope:
        """The block that operations go to now."""
        if not self._open:
            raise BuildError(
                f"program {self.name} is not being built here",
                f"operations are written inside `with` of the program {self.name}",
            )
        return self._open[-1]

    @contextmanager
    def inside(self, block: ir.Block, name: str) -> Generator[Scope, None, None]:
        """Operations go to `block`, called `name` in messages, to the end of the `with`."""
        scope = Scope(block, name, calling_place())
        self._open.append(scope)
        try:
            yield scope
        finally:
            self._open.pop()

    def require_visible(self, scope: Scope, what: str) -> None:
        """Refuses a value of a scope that has ended."""
        if scope not in self._open:
            raise BuildError(
                f"{what} belongs to {scope.name} at {scope.place} and is not known outside of it",
                "write into a buffer that is allocated outside, or output it from the branch",
            )

    def is_visible(self, extent: Extent) -> bool:
        """Returns whether a size is known in the present block."""
        return all(
            self._sources[atom][0] in self._open
            if atom.operation is None
            else all(map(self.is_visible, atom.operands))
            for monomial, _ in terms_of(extent)
            for atom in monomial
        )

    # Operations.

    def emit(
        self,
        name: str,
        operands: Sequence[ir.Value] = (),
        results: Sequence[ir.Type] = (),
        attributes: Mapping[str, ir.Attribute] | None = None,
        regions: int = 0,
        at: ir.InsertionPoint | None = None,
        place: Place | None = None,
    ) -> ir.Operation:
        """Writes an operation at the end of the current block, and verifies it if it has no region.

        Its location is that of the user's call. Raises BuildError where it is not valid.
        """
        place = place or calling_place()
        op = ir.Operation.create(
            name,
            results,
            operands,
            dict(attributes or {}),
            regions=regions,
            loc=self.location(place),
            ip=at or ir.InsertionPoint(self.scope.block),
        )
        if not regions:
            self.verified(op, place)
        return op

    def verified(self, op: ir.Operation, place: Place | None = None) -> None:
        """Verifies an operation; takes it out and raises BuildError where it is not valid."""
        try:
            verify(op, place)
        except BuildError:
            op.erase()
            raise

    @contextmanager
    def writing(self, op: ir.Operation, place: Place | None = None) -> Generator[None, None, None]:
        """Verifies an operation when all in its regions is written; takes it out on an error."""
        try:
            yield
        except BaseException:
            op.erase()
            raise
        self.verified(op, place)

    def value(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result: ir.Type,
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """Writes an operation with one result and gives that."""
        return self.emit(name, operands, [result], attributes).results[0]

    def location(self, place: Place | None = None, name: str | None = None) -> ir.Location:
        """MLIR's location of a place in the user's code, by default of the present call."""
        place = place or calling_place()
        location = ir.Location.file(place.file, place.line, place.column, context=self.context)
        if name is None:
            return location
        return ir.Location.name(name, location, context=self.context)

    def typed(self, make: Callable[[], _Result]) -> _Result:
        """Returns what `make` returns, with this context and location as MLIR's current ones."""
        with self.context, self.location():
            return make()

    # Attributes and types.

    @property
    def index(self) -> ir.Type:
        return ir.IndexType.get(self.context)

    def type(self, text: str) -> ir.Type:
        """Returns the type of that text."""
        return ir.Type.parse(text, self.context)

    def string(self, value: str) -> ir.Attribute:
        if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance] - of a step
            raise BuildError(f"a string is expected, not {value!r}")
        return ir.StringAttr.get(value, self.context)

    def integer(self, value: int) -> ir.Attribute:
        number = _whole(value)
        return self.typed(lambda: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number))

    def integers(self, values: Sequence[int]) -> ir.Attribute:
        if not isinstance(values, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"a tuple of whole numbers is expected, not {values!r}")
        return ir.DenseI64ArrayAttr.get([_whole(value) for value in values], self.context)

    def strings(self, values: Sequence[str]) -> ir.Attribute:
        if isinstance(values, str):
            raise BuildError(f"a list of strings is expected, not {values!r}")
        return ir.ArrayAttr.get([self.string(value) for value in values], self.context)

    def type_attribute(self, value: ir.Type) -> ir.Attribute:
        return ir.TypeAttr.get(value, self.context)

    def symbol(self, *path: str) -> ir.Attribute:
        if len(path) == 1:
            return ir.FlatSymbolRefAttr.get(path[0], self.context)
        return self.typed(lambda: ir.SymbolRefAttr.get(list(path)))

    def unit(self) -> ir.Attribute:
        return ir.UnitAttr.get(self.context)

    # Sizes.

    def new_size(self, name: str, scope: Scope, make: Callable[[], ir.Value]) -> Size:
        """Returns a size of its own, visible in `scope`; `make` writes its value, once, when
        needed.
        """
        atom = self.atoms.fresh(name)
        self._sources[atom] = (scope, make)
        return atom_size(self, atom)

    def extent_value(self, extent: Extent) -> ir.Value:
        """Returns the index value of a size, computed in the current block where it is not there
        yet.
        """
        if not isinstance(extent, Size):
            return self.constant_value(self.index, extent)
        if extent.program is not self:
            raise BuildError(
                f"the size {extent} is of program {extent.program.name}, this is {self.name}",
                "hand it over as an input",
            )
        return self._computed(terms_of(extent), lambda: self._sum(extent))

    def _sum(self, extent: Size) -> ir.Value:
        total: ir.Value | None = None
        for monomial, times in ordered(extent.terms):
            # A negative term is subtracted, where there is something to subtract it from.
            factor = abs(times) if total is not None else times
            term = self._product(monomial, factor)
            if total is None:
                total = term
            else:
                operation = "arith.addi" if times > 0 else "arith.subi"
                total = self.value(operation, [total, term], self.index)
        return cast(ir.Value, total)

    def _product(self, monomial: tuple[Atom, ...], times: int) -> ir.Value:
        factors = [self._atom(atom) for atom in monomial]
        if times != 1 or not factors:
            factors.append(self.constant_value(self.index, times))
        product = factors[0]
        for factor in factors[1:]:
            before = product

            def multiply(x: ir.Value = before, y: ir.Value = factor) -> ir.Value:
                return self.value("arith.muli", [x, y], self.index)

            product = self._computed(("mul", before, factor), multiply)
        return product

    def _atom(self, atom: Atom) -> ir.Value:
        if atom.operation is None:
            scope, make = self._sources[atom]
            self.require_visible(scope, f"the index {atom.name}")
            if atom not in scope.computed:
                scope.computed[atom] = make()
            return scope.computed[atom]
        operation = _SIZE_OPERATIONS[atom.operation]
        operands = [self.extent_value(operand) for operand in atom.operands]
        return self._computed(atom, lambda: self.value(operation, operands, self.index))

    def _computed(self, key: Hashable, make: Callable[[], ir.Value]) -> ir.Value:
        """Returns the value of `key` that an open block has, or what `make` writes into the current
        one.
        """
        for scope in reversed(self._open):
            if key in scope.computed:
                return scope.computed[key]
        value = make()
        self.scope.computed[key] = value
        return value

    # The prologue: constants and sizes of inputs, at the top of the program in the order of need.

    def prologue(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result: ir.Type,
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """Writes an operation at the top of the program, after those that are there already."""
        if self._last_of_prologue is None:
            at = ir.InsertionPoint.at_block_begin(self._open[0].block)
        else:
            at = ir.InsertionPoint.after(self._last_of_prologue)
        op = self.emit(name, operands, [result], attributes, at=at)
        self._last_of_prologue = op
        return op.results[0]

    def constant_value(self, scalar_type: ir.Type, value: int | float) -> ir.Value:
        """Returns a constant of an index, integer or float type. BuildError: the type does not have
        it.
        """
        if isinstance(scalar_type, ir.FloatType):
            value = _float(value)
        else:
            width = scalar_type.width if isinstance(scalar_type, ir.IntegerType) else 64
            value = _whole(value, width)
        make = ir.FloatAttr.get if isinstance(scalar_type, ir.FloatType) else ir.IntegerAttr.get
        attribute = self.typed(lambda: make(scalar_type, value))
        computed = self._open[0].computed
        if attribute not in computed:
            computed[attribute] = self.prologue(
                "arith.constant", [], scalar_type, {"value": attribute}
            )
        return computed[attribute]

    # What sizes have done by the rest of the builder.

    def compare_sizes(self, kind: str, x: Extent, y: Extent) -> Scalar:
        """Returns the i1 scalar that compares two sizes."""
        raise NotImplementedError

    def cast_size(self, size: Extent, to: str) -> Scalar:
        """Returns a size as a scalar of another type."""
        raise NotImplementedError


def _whole(value: object, bits: int = 64) -> int:
    """Returns a number of so many bits, signed or not. Raises BuildError for any other value."""
    if not isinstance(value, int) or (isinstance(value, bool) and bits > 1):
        raise BuildError(f"a whole number is expected, not {value!r}")
    number = int(value)
    if not -(2 ** (bits - 1)) <= number < 2**bits or (bits == 64 and number >= 2**63):
        raise BuildError(f"{number} does not fit into {bits} bits")
    return number - 2**bits if bits > 1 and number >= 2 ** (bits - 1) else number


def _float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise BuildError("the number is too large for a float") from None
