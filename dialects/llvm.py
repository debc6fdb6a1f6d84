"""Makes the operations of the llvm dialect that host code consists of, with a function for each.

The bindings' module, `mlir.llvm`, defines a class for each of the dialect's operations, and takes
longer to load than those of all other dialects together. Code that makes other operations uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .mlir import ir, llvm_types

ArrayType = llvm_types.ArrayType
FunctionType = llvm_types.FunctionType
PointerType = llvm_types.PointerType
StructType = llvm_types.StructType

# Values of LLVM's enumerations.
_EQUAL = 0
_ACQUIRE = 4
_Location = ir.Location | None
_Place = ir.InsertionPoint | None


def _make(
    name: str,
    result: ir.Type | None,
    operands: Sequence[ir.Value] = (),
    attributes: Mapping[str, ir.Attribute | None] | None = None,
    *,
    regions: int = 0,
    successors: Sequence[ir.Block] = (),
    loc: _Location = None,
    ip: _Place = None,
) -> ir.Operation:
    """Makes an operation; attributes that are None are left out."""
    given = {key: value for key, value in (attributes or {}).items() if value is not None}
    return ir.Operation.create(
        f"llvm.{name}",
        results=[] if result is None else [result],
        operands=list(operands),
        attributes=given,
        regions=regions,
        successors=list(successors),
        loc=loc,
        ip=ip,
    )


def _i64(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _linkage(name: str) -> ir.Attribute:
    return ir.Attribute.parse(f"#llvm.linkage<{name}>")


def function(
    name: str,
    kind: ir.Type,
    *,
    linkage: str | None = None,
    is_private: bool = False,
    is_inlined: bool = True,
    loc: _Location = None,
    ip: _Place = None,
) -> ir.Operation:
    """Makes a function without a body; the caller may append blocks to its region."""
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "sym_visibility": ir.StringAttr.get("private") if is_private else None,
        "function_type": ir.TypeAttr.get(kind),
        "linkage": None if linkage is None else _linkage(linkage),
        "no_inline": None if is_inlined else ir.UnitAttr.get(),
    }
    return _make("func", None, (), attributes, regions=1, loc=loc, ip=ip)


def variable(
    name: str,
    kind: ir.Type,
    linkage: str,
    *,
    value: ir.Attribute | None = None,
    is_constant: bool = False,
    is_hidden: bool = False,
    may_be_merged: bool = False,
    alignment: int | None = None,
    section: str | None = None,
    loc: _Location = None,
    ip: _Place = None,
) -> ir.Operation:
    """Makes a global variable; without a value, a block in its region computes the initial one."""
    attributes = {
        "global_type": ir.TypeAttr.get(kind),
        "constant": ir.UnitAttr.get() if is_constant else None,
        "sym_name": ir.StringAttr.get(name),
        "linkage": _linkage(linkage),
        "value": value,
        "alignment": None if alignment is None else _i64(alignment),
        "unnamed_addr": _i64(2) if may_be_merged else None,
        "section": None if section is None else ir.StringAttr.get(section),
        "visibility_": _i64(1) if is_hidden else None,
    }
    return _make("mlir.global", None, (), attributes, regions=1, loc=loc, ip=ip)


def end(value: ir.Value | None = None) -> None:
    """Returns from a function or an initializer."""
    _make("return", None, [] if value is None else [value])


def branch(block: ir.Block) -> ir.Operation:
    """Branches to a block that has no arguments."""
    return _make("br", None, successors=[block])


def constant(
    kind: ir.Type, value: ir.Attribute, *, loc: _Location = None, ip: _Place = None
) -> ir.Value:
    """Returns the value of an attribute, such as a number."""
    return _make("mlir.constant", kind, (), {"value": value}, loc=loc, ip=ip).result


def zero(kind: ir.Type, *, loc: _Location = None, ip: _Place = None) -> ir.Value:
    """Returns the zero of a type; for pointers, null."""
    return _make("mlir.zero", kind, loc=loc, ip=ip).result


def undefined(kind: ir.Type, *, loc: _Location = None, ip: _Place = None) -> ir.Value:
    """Returns an undefined value."""
    return _make("mlir.undef", kind, loc=loc, ip=ip).result


def address_of(
    symbol: ir.FlatSymbolRefAttr, *, loc: _Location = None, ip: _Place = None
) -> ir.Value:
    """Returns the address of a variable or a function."""
    attributes = {"global_name": symbol}
    return _make("mlir.addressof", PointerType.get(), (), attributes, loc=loc, ip=ip).result


def call(
    result: ir.Type | None,
    callee: ir.Attribute,
    arguments: Sequence[ir.Value],
    *,
    loc: _Location = None,
    ip: _Place = None,
) -> ir.Operation:
    """Calls a function by its symbol."""
    attributes = {
        "callee": callee,
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(arguments), 0]),
    }
    return _make("call", result, arguments, attributes, loc=loc, ip=ip)


def allocate(
    kind: ir.Type,
    count: ir.Value,
    *,
    alignment: int | None = None,
    loc: _Location = None,
    ip: _Place = None,
) -> ir.Value:
    """Returns the address of `count` elements in the function's frame."""
    attributes = {
        "elem_type": ir.TypeAttr.get(kind),
        "alignment": None if alignment is None else _i64(alignment),
    }
    return _make("alloca", PointerType.get(), [count], attributes, loc=loc, ip=ip).result


# Leaves room for an index that is not a constant.
_DYNAMIC_INDEX = -(2**31)


def element_address(
    base: ir.Value,
    kind: ir.Type,
    *indices: int | ir.Value,
    loc: _Location = None,
    ip: _Place = None,
) -> ir.Value:
    """Returns the address of an element; the first index counts values of `kind` behind `base`."""
    constants = [each if isinstance(each, int) else _DYNAMIC_INDEX for each in indices]
    attributes = {
        "rawConstantIndices": ir.DenseI32ArrayAttr.get(constants),
        "elem_type": ir.TypeAttr.get(kind),
    }
    operands = [base, *(each for each in indices if not isinstance(each, int))]
    pointer = PointerType.get()
    return _make("getelementptr", pointer, operands, attributes, loc=loc, ip=ip).result


def number_of(address: ir.Value, *, loc: _Location = None, ip: _Place = None) -> ir.Value:
    """Returns an address as an i64."""
    i64 = ir.IntegerType.get_signless(64)
    return _make("ptrtoint", i64, [address], loc=loc, ip=ip).result


def load(kind: ir.Type, address: ir.Value, *, loc: _Location = None, ip: _Place = None) -> ir.Value:
    """Loads the value at an address."""
    return _make("load", kind, [address], loc=loc, ip=ip).result


def load_acquired(kind: ir.Type, address: ir.Value, alignment: int) -> ir.Value:
    """Loads a value with acquire semantics: what a thread did before it stored that is visible."""
    attributes = {"alignment": _i64(alignment), "ordering": _i64(_ACQUIRE)}
    return _make("load", kind, [address], attributes).result


def store(value: ir.Value, address: ir.Value, *, loc: _Location = None, ip: _Place = None) -> None:
    """Stores a value at an address."""
    _make("store", None, [value, address], loc=loc, ip=ip)


def extract(
    kind: ir.Type,
    container: ir.Value,
    position: Sequence[int],
    *,
    loc: _Location = None,
    ip: _Place = None,
) -> ir.Value:
    """Returns a member, at any depth, of a struct or an array."""
    attributes = {"position": ir.DenseI64ArrayAttr.get(position)}
    return _make("extractvalue", kind, [container], attributes, loc=loc, ip=ip).result


def insert(
    container: ir.Value,
    value: ir.Value,
    position: Sequence[int],
    *,
    loc: _Location = None,
    ip: _Place = None,
) -> ir.Value:
    """Returns a struct or an array with one member replaced."""
    attributes = {"position": ir.DenseI64ArrayAttr.get(position)}
    operands = [container, value]
    return _make("insertvalue", container.type, operands, attributes, loc=loc, ip=ip).result


def multiply(
    left: ir.Value, right: ir.Value, *, loc: _Location = None, ip: _Place = None
) -> ir.Value:
    """Returns the product of two integers."""
    return _make("mul", left.type, [left, right], loc=loc, ip=ip).result


def select(condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    """Returns one of two values."""
    return _make("select", yes.type, [condition, yes, no]).result


def equal(left: ir.Value, right: ir.Value) -> ir.Value:
    """Returns whether two integers or addresses are equal."""
    i1 = ir.IntegerType.get_signless(1)
    return _make("icmp", i1, [left, right], {"predicate": _i64(_EQUAL)}).result
