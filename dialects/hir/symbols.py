"""Finding what a symbol names: programs, kernels and gpu functions are the module's own."""

from collections.abc import Iterator

from ..mlir import ir


def enclosing_module(op: ir.OpView) -> ir.Operation | None:
    """The builtin.module around an operation."""
    parent = op.operation.parent
    while parent is not None and parent.name != "builtin.module":
        parent = parent.parent
    return parent


def symbol_names(op: ir.Operation, kind: str) -> list[str]:
    """The names of the operations of one kind in the module `op`, in order."""
    return [_name(child) or "" for child in _children(op) if child.name == kind]


def lookup(op: ir.OpView, path: list[str]) -> ir.Operation | None:
    """The operation that `@path[0]::@path[1]...` names, seen from `op`, or None."""
    found = enclosing_module(op)
    for name in path:
        if found is None:
            return None
        found = next((child for child in _children(found) if _name(child) == name), None)
    return found


def path_of(symbol: ir.Attribute) -> list[str]:
    """The names of a symbol, outermost first."""
    if isinstance(symbol, ir.FlatSymbolRefAttr):
        return [symbol.value]
    return list(ir.SymbolRefAttr(symbol).value)


def written(path: list[str]) -> str:
    """A symbol as the text of a program has it."""
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
