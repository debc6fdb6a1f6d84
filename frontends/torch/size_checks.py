"""Assertions that the sizes of a call are those that a model was exported for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from torch.utils._sympy.printers import PythonPrinter

from ...compiler.loader_calling import NUMBER
from ...dialects.mlir import arith, cf, ir
from .size_guards import SizeGuard, holds, is_known
from .sizes import Sizes

_AT_LEAST = arith.CmpIPredicate.sge
_AT_MOST = arith.CmpIPredicate.sle
_EQUAL = arith.CmpIPredicate.eq


def check_sizes(module: ir.Operation, sizes: Sizes, guards: Sequence[SizeGuard]) -> None:
    """Begins the function with assertions on the limits of its open sizes, and of `guards`.

    The inputs that the caller passes are the first arguments.
    """
    places = sizes.places
    (function,) = (
        op.operation for op in module.regions[0].blocks[0] if op.operation.name == "func.func"
    )
    block = function.regions[0].blocks[0]

    def size_of(name: str) -> ir.Value:
        number, axis = places[name]
        if axis == NUMBER:
            return arith.index_cast(ir.IndexType.get(), block.arguments[number])
        index = arith.constant(ir.IndexType.get(), axis)
        kinds = [ir.IndexType.get()]
        dim = ir.Operation.create("tensor.dim", kinds, [block.arguments[number], index])
        return dim.results[0]

    def check(condition: arith.CmpIPredicate, name: str, bound: ir.Value, said: str) -> None:
        holds = arith.cmpi(condition, size_of(name), bound)
        what = "number" if places[name][1] == NUMBER else "size"
        cf.AssertOp(holds, f"the {what} '{name}' is not {said}, which the model is compiled for")

    with ir.InsertionPoint.at_block_begin(block), function.location:
        for name, limits in sizes.limits.items():
            for condition, limit, what in zip(
                (_AT_LEAST, _AT_MOST), limits, ("least", "most"), strict=True
            ):
                if limit is not None:
                    bound = arith.constant(ir.IndexType.get(), limit)
                    check(condition, name, bound, f"at {what} {limit}")
        for name, (base, factor, more) in sizes.derived.items():
            product = arith.muli(size_of(base), arith.constant(ir.IndexType.get(), factor))
            bound = arith.addi(product, arith.constant(ir.IndexType.get(), more))
            check(_EQUAL, name, bound, f"{factor} times '{base}' and {more} more")
        symbols = sizes.symbols
        for guard in guards:
            if is_known(guard, set(symbols)):
                with _location(guard, function):
                    truth = holds(guard, lambda symbol: size_of(symbols[symbol]))
                    asked = f"the sizes do not satisfy {_shown(guard, symbols)}"
                    cf.AssertOp(truth, f"{asked}, for which the model was compiled")


def _location(guard: SizeGuard, function: ir.Operation) -> ir.Location:
    place = guard.place
    if place is None:
        return function.location
    return ir.Location.file(place.file, place.line, place.column)


def _shown(guard: SizeGuard, symbols: Mapping[Any, str]) -> str:
    names = {symbol: sympy.Symbol(name) for symbol, name in symbols.items()}
    return PythonPrinter().doprint(guard.condition.subs(names))
