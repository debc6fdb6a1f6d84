"""Placements of a model's tensors over a mesh, as what its function says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from ...compiler.errors import InputError
from ...compiler.sharding import Sharding
from ...dialects.hir.mesh import MESH, SPREAD, mesh_fault, mesh_of_shape
from ...dialects.mlir import ir
from ...pipelines.mesh.declared import read_declared
from ...pipelines.weights import MARK, STATE_MARK
from .generators import GENERATOR


def declare_placements(
    function: ir.Operation,
    sharding: Sharding,
    aliases: Mapping[str, Sequence[str]],
    others: Iterable[str],
) -> None:
    """Writes the mesh at a model's function, and how its arguments and results are spread.

    `aliases` are further names of weights, `others` those of tensors that the program does not use.
    Raises InputError.
    """
    with function.context:
        mesh = ir.DenseI64ArrayAttr.get(list(sharding.mesh))
        fault = mesh_fault(mesh)
        if fault is not None:
            raise InputError(fault.replace("'mesh'", "the mesh"), stage="import")
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        table = _Table(sharding, aliases)
        for which, kinds in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
            described = [
                table.described(ir.DictAttr(each), of)
                for each, of in zip(ir.ArrayAttr(function.attributes[which]), kinds, strict=True)
            ]
            function.attributes[which] = ir.ArrayAttr.get(described)
        table.check(others)
        function.attributes[MESH] = mesh


class _Table:
    def __init__(self, sharding: Sharding, aliases: Mapping[str, Sequence[str]]) -> None:
        self._mesh = mesh_of_shape(sharding.mesh)
        self._table = dict(reversed(sharding.table))
        # What the command line says stands first, and holds.
        self._patterns = list(dict.fromkeys(name for name, _ in sharding.table))
        self._aliases = aliases
        self._names: list[str] = []
        self._used: set[str] = set()

    def described(self, entries: ir.DictAttr, kind: ir.Type) -> ir.Attribute:
        """Returns what is said of a tensor, with how it is spread."""
        name = next(
            (
                ir.StringAttr(entries[key]).value
                for key in (MARK, "hir.name", STATE_MARK)
                if key in entries
            ),
            None,
        )
        # Every device draws the same random numbers.
        row = None if name is None or name == GENERATOR else self._row(name)
        if row is None:
            return entries
        if STATE_MARK in entries and any(word.startswith("partial") for word in row):
            raise InputError(
                f"the sharding of '{name}', which is state: that is divided or whole",
                stage="import",
            )
        rank = kind.rank if isinstance(kind, ir.RankedTensorType) else 0
        said = ir.ArrayAttr.get([ir.StringAttr.get(_counted(word, rank)) for word in row])
        found = read_declared(said, kind, self._mesh)
        if isinstance(found, str):
            raise InputError(f"the sharding of '{name}', {', '.join(row)}: {found}", stage="import")
        shape = kind.shape if isinstance(kind, ir.RankedTensorType) else ()
        for dim in self._mesh.uneven(found, shape) if STATE_MARK in entries else ():
            raise InputError(
                f"the sharding of '{name}', which is state: "
                f"{self._mesh.uneven_text(found, dim, shape[dim])}",
                stage="import",
                hint="leave it whole: every device then has all of it",
            )
        known = {entry.name: entry.attr for entry in entries}
        return ir.DictAttr.get({**known, SPREAD: said})

    def _row(self, name: str) -> tuple[str, ...] | None:
        names = [name, *self._aliases.get(name, ())]
        self._names += names
        matching = [
            pattern
            for pattern in self._patterns
            if any(fnmatchcase(each, pattern) for each in names)
        ]
        self._used.update(matching)
        exact = next((pattern for pattern in matching if pattern in names), None)
        chosen = exact or next(iter(matching), None)
        return None if chosen is None else self._table[chosen]

    def check(self, others: Iterable[str]) -> None:
        """Raises InputError where the table names what the model has not."""
        for pattern in self._patterns:
            if pattern in self._used or any(fnmatchcase(each, pattern) for each in others):
                continue
            raise InputError(
                f"shardings names '{pattern}', which is no input, weight or output of the model",
                stage="import",
                hint=f"it has {', '.join(self._names)}",
            )


def _counted(word: str, rank: int) -> str:
    """Returns a placement whose dim is counted from the first one."""
    dim = word.removeprefix("axis:-")
    return f"axis:{rank - int(dim)}" if dim != word and 0 < int(dim) <= rank else word
