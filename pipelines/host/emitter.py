"""Builds the LLVM-dialect operations the host lowerings share."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import llvm
from ...dialects.mlir import ir
from ..locations import location_text
from ..pass_base import fail
from ..symbols import fresh_name
from .types import Types

# Marks functions whose last argument is the source position to name in messages.
CALLER = "hirc.called_from"


class Emitter:
    """Inserts operations before one gpu operation, at that operation's location."""

    def __init__(
        self, module: ir.Operation, *, bare_pointers: bool = False, max_shared_bytes: int = 0
    ) -> None:
        self.module = module
        self.bare_pointers = bare_pointers
        self.max_shared_bytes = max_shared_bytes
        self.types = Types(module.context)
        self._symbols = ir.SymbolTable(module)
        self._body = module.regions[0].blocks[0]
        self._strings: dict[str, str] = {}
        self.op: ir.Operation = module

    def symbol(self, name: str) -> ir.Operation:
        """Returns what the module has by a name."""
        return self._symbols[name].operation

    def at(self, op: ir.Operation) -> Emitter:
        """Moves to the place just before `op`."""
        self.op = op
        return self

    def _here(self) -> ir.InsertionPoint:
        return ir.InsertionPoint(self.op)

    # Constants.

    def i64(self, value: int) -> ir.Value:
        return self._constant(self.types.i64, value)

    def i32(self, value: int) -> ir.Value:
        return self._constant(self.types.i32, value)

    def _constant(self, kind: ir.Type, value: int) -> ir.Value:
        attribute = ir.IntegerAttr.get(kind, value)
        return llvm.constant(kind, attribute, loc=self.op.location, ip=self._here())

    def null(self) -> ir.Value:
        return llvm.zero(self.types.ptr, loc=self.op.location, ip=self._here())

    def string(self, text: str) -> ir.Value:
        """Returns the address of a NUL-terminated constant string."""
        name = self._strings.get(text)
        if name is None:
            name = self.fresh_symbol(f"hirc_string_{len(self._strings)}")
            size = len(text.encode()) + 1
            self.global_constant(
                name,
                ir.Type.parse(f"!llvm.array<{size} x i8>", self.types.context),
                ir.StringAttr.get(text + "\0", self.types.context),
                unnamed=True,
            )
            self._strings[text] = name
        return self.address_of(name)

    def location(self) -> ir.Value:
        """Returns the operation's source position, as the string error messages begin with."""
        function = self._function()
        if CALLER in function.attributes:
            return list(function.regions[0].blocks[0].arguments)[-1]
        return self.string(location_text(self.op.location))

    def fresh_symbol(self, name: str) -> str:
        """`name`, or `name_1` and so on where the module has it already."""
        return fresh_name(name, lambda candidate: candidate in self._symbols)

    def address_of(self, symbol: str) -> ir.Value:
        reference = ir.FlatSymbolRefAttr.get(symbol)
        return llvm.address_of(reference, loc=self.op.location, ip=self._here())

    def global_constant(
        self, name: str, kind: ir.Type, value: ir.Attribute, *, unnamed: bool = False
    ) -> None:
        """An internal constant. One that is `unnamed` may be merged with an equal one."""
        constant = llvm.variable(
            name,
            kind,
            "internal",
            value=value,
            is_constant=True,
            may_be_merged=unnamed,
            loc=ir.Location.unknown(self.types.context),
            ip=ir.InsertionPoint.at_block_begin(self._body),
        )
        self._symbols.insert(constant)

    def constant_words(self, name: str, words: Sequence[int]) -> ir.Value:
        """Returns the address of an internal constant: words of 64 bits."""
        symbol = self.fresh_symbol(name)
        numbers = ir.DenseElementsAttr.get(
            [ir.IntegerAttr.get(self.types.i64, word) for word in words],
            ir.RankedTensorType.get([len(words)], self.types.i64),
        )
        self.global_constant(symbol, self.types.array(len(words), self.types.i64), numbers)
        return self.address_of(symbol)

    def zeroed_words(self, name: str, count: int) -> str:
        """Returns the symbol of an internal variable: `count` words of 64 bits, all zero."""
        symbol = self.fresh_symbol(name)
        zeros = ir.DenseElementsAttr.get_splat(
            ir.RankedTensorType.get([count], self.types.i64), ir.IntegerAttr.get(self.types.i64, 0)
        )
        variable = llvm.variable(
            symbol,
            self.types.array(count, self.types.i64),
            "internal",
            value=zeros,
            loc=ir.Location.unknown(self.types.context),
            ip=ir.InsertionPoint.at_block_begin(self._body),
        )
        self._symbols.insert(variable)
        return symbol

    # Calls.

    def call(
        self, name: str, arguments: Sequence[ir.Value], result: ir.Type | None = None
    ) -> ir.Value | None:
        """Calls a C function, declaring it on first use."""
        self._declare(name, [value.type for value in arguments], result)
        callee = ir.FlatSymbolRefAttr.get(name)
        call = llvm.call(result, callee, arguments, loc=self.op.location, ip=self._here())
        return call.results[0] if result is not None else None

    def value_of_call(self, name: str, arguments: Sequence[ir.Value], result: ir.Type) -> ir.Value:
        """Calls a C function, and returns what it does."""
        value = self.call(name, arguments, result)
        assert value is not None
        return value

    def checked_call(self, name: str, arguments: Sequence[ir.Value]) -> None:
        """Calls a CUDA runtime function and ends the program if it fails."""
        code = self.value_of_call(name, arguments, self.types.i32)
        self.call("hirc_check", [code, self.string(name), self.location()])

    def _declare(self, name: str, arguments: Sequence[ir.Type], result: ir.Type | None) -> None:
        self.declare(
            name, "void" if result is None else str(result), [str(kind) for kind in arguments]
        )

    def declare(self, name: str, result: str, arguments: Sequence[str]) -> None:
        """Declares a C function, its types as the LLVM dialect writes them."""
        kind = ir.Type.parse(f"!llvm.func<{result} ({', '.join(arguments)})>")
        if name in self._symbols:
            there = self._symbols[name].operation
            if there.name != "llvm.func" or there.attributes["function_type"].value != kind:
                fail(there, f"'{name}' is what hirc itself calls as {kind}; rename this one")
            return
        function = llvm.function(
            name,
            kind,
            is_private=True,
            loc=ir.Location.unknown(),
            ip=ir.InsertionPoint(self._body),
        )
        self._symbols.insert(function)

    # Memory and arithmetic.

    def stack_slot(self, kind: ir.Type, *, alignment: int | None = None) -> ir.Value:
        """Returns a stack slot in the function's entry block, so that a loop does not grow the
        stack.
        """
        entry = ir.InsertionPoint.at_block_begin(self._function().regions[0].blocks[0])
        number, location = ir.IntegerAttr.get(self.types.i64, 1), self.op.location
        one = llvm.constant(self.types.i64, number, loc=location, ip=entry)
        return llvm.allocate(kind, one, alignment=alignment, loc=location, ip=entry)

    def _function(self) -> ir.Operation:
        op = self.op
        while op.parent is not None and op.parent.name != "builtin.module":
            op = op.parent.operation
        return op

    def element_address(self, base: ir.Value, element: ir.Type, *indices: int) -> ir.Value:
        """Address of a constant position inside the aggregate `element` at `base`."""
        return llvm.element_address(
            base, element, 0, *indices, loc=self.op.location, ip=self._here()
        )

    def bytes_of(self, kind: ir.Type) -> ir.Value:
        """Returns the bytes from one element of a type to the next."""
        location, place = self.op.location, self._here()
        second = llvm.element_address(self.null(), kind, 1, loc=location, ip=place)
        return llvm.number_of(second, loc=location, ip=place)

    def offset_address(self, base: ir.Value, element: ir.Type, index: ir.Value) -> ir.Value:
        """Address of element number `index` (i64) after `base`."""
        return llvm.element_address(base, element, index, loc=self.op.location, ip=self._here())

    def store(self, value: ir.Value, address: ir.Value) -> None:
        llvm.store(value, address, loc=self.op.location, ip=self._here())

    def load(self, kind: ir.Type, address: ir.Value) -> ir.Value:
        return llvm.load(kind, address, loc=self.op.location, ip=self._here())

    def extract(self, container: ir.Value, kind: ir.Type, *position: int) -> ir.Value:
        return llvm.extract(kind, container, position, loc=self.op.location, ip=self._here())

    def insert(self, container: ir.Value, value: ir.Value, *position: int) -> ir.Value:
        return llvm.insert(container, value, position, loc=self.op.location, ip=self._here())

    def undefined(self, kind: ir.Type) -> ir.Value:
        return llvm.undefined(kind, loc=self.op.location, ip=self._here())

    def multiply(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return llvm.multiply(left, right, loc=self.op.location, ip=self._here())

    def begun_descriptor(
        self, rank: int, allocated: ir.Value, first: ir.Value, offset: int = 0
    ) -> ir.Value:
        """Returns a memref's descriptor that has no sizes and strides yet."""
        descriptor = self.undefined(self.types.descriptor(rank))
        descriptor = self.insert(descriptor, allocated, 0)
        descriptor = self.insert(descriptor, first, 1)
        return self.insert(descriptor, self.i64(offset), 2)

    def packed_memref(
        self, kind: ir.MemRefType, address: ir.Value, extents: Sequence[ir.Value] = ()
    ) -> ir.Value:
        """Returns a memref of row-major memory at `address`; `extents` are its sizes
        where dynamic.
        """
        sizes = list(extents) or [self.i64(size) for size in kind.shape]
        descriptor = self.begun_descriptor(kind.rank, address, address)
        stride = self.i64(1)
        for axis in reversed(range(kind.rank)):
            descriptor = self.insert(descriptor, sizes[axis], 3, axis)
            descriptor = self.insert(descriptor, stride, 4, axis)
            if axis:
                stride = self.multiply(stride, sizes[axis])
        return self.cast(descriptor, kind)

    def widen(self, value: ir.Value) -> ir.Value:
        """Returns a narrower non-negative integer as i64."""
        return ir.Operation.create(
            "llvm.zext",
            results=[self.types.i64],
            operands=[value],
            loc=self.op.location,
            ip=self._here(),
        ).result

    def convert(self, value: ir.Value) -> ir.Value:
        """Returns the value as its LLVM type; folds away once the rest is lowered."""
        kind = self.types.lowered(value.type)
        return value if kind == value.type else self.cast(value, kind)

    def cast(self, value: ir.Value, kind: ir.Type) -> ir.Value:
        return ir.Operation.create(
            "builtin.unrealized_conversion_cast",
            results=[kind],
            operands=[value],
            loc=self.op.location,
            ip=self._here(),
        ).result
