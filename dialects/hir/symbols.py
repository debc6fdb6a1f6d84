"""Finding what a symbol names: programs, kernels and gpu functions are the module's own."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..mlir import ir

# While nothing changes: what each operation has in it, by name.
_found: ContextVar[dict[ir.Operation, dict[str | None, ir.Operation]] | None] = ContextVar(
    "found", default=None
)


@contextmanager
def unchanged() -> Generator[None, None, None]:
    """Says that no symbol comes or goes meanwhile: a module is searched once for all of them."""
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


def enclosing_module(op: ir.OpView) -> ir.Operation | None:
    """Returns the builtin.module around an operation."""
    parent = op.operation.parent
    while parent is not None and parent.name != "builtin.module":
        parent = parent.parent
    return parent


def symbol_names(op: ir.Operation, kind: str) -> list[str]:
    """Returns the names of the operations of one kind in the module `op`, in order."""
    return [_name(child) or "" for child in _children(op) if child.name == kind]


def lookup(op: ir.OpView, path: list[str]) -> ir.Operation | None:
    """Returns the operation that `@path[0]::@path[1]...` names, seen from `op`, or None."""
    found = enclosing_module(op)
    for name in path:
        if found is None:
            return None
        found = _child(found, name)
    return found


def _child(op: ir.Operation, name: str) -> ir.Operation | None:
    """Returns the first operation within `op` that is called `name`."""
    known = _found.get()
    if known is None:
        return next((child for child in _children(op) if _name(child) == name), None)
    if op not in known:
        named = known[op] = {}
        for child in _children(op):
            named.setdefault(_name(child), child)
    return known[op].get(name)


def path_of(symbol: ir.Attribute) -> list[str]:
    """Returns the names of a symbol, outermost first."""
    if isinstance(symbol, ir.FlatSymbolRefAttr):
        return [symbol.value]
    return list(ir.SymbolRefAttr(symbol).value)


def written(path: list[str]) -> str:
    """Returns a symbol as the text of a program has it."""
    return "::".join(f"@{name}" for name in path)


def _children(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for child in block.operations:
                yield child.operation


def _name(op: ir.Operation) -> str | None:
    if "sym_name" not in op.attributes:
        return None
    name = op.attributes["sym_name"]
    return name.value if isinstance(name, ir.StringAttr) else None
