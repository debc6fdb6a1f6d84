"""Imports drawn operations from torch, in a process of its own: torch-mlir may crash.

`python -m hirc.tools.bench_kernels.import_drawn ROWS.json FOUND.json`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim

from ...compiler.errors import HircError
from ...dialects.mlir import ir, load_named_dialects
from ...frontends.torch.import_model import import_model
from .arrays import empty
from .drawn import function_of
from .row import DYNAMIC, STATIC, Row

_NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int8: "i8",
}


def imported(row: Row) -> dict[str, Any]:
    """Returns the text of a row's program and what it gives; raises HircError."""
    function = function_of(row)
    with FakeTensorMode():
        inputs = tuple(empty(each, "cpu") for each in row.inputs)
        outputs = function(*inputs)
    shapes = None
    if row.is_open:
        # Sizes of 1 are those of broadcasts.
        shapes = (
            tuple(
                {axis: Dim.AUTO for axis, size in enumerate(each.sizes) if size > 1}
                for each in row.inputs
            ),
        )
    name = row.program(DYNAMIC if row.is_open else STATIC)
    found = import_model(function, inputs, name=name, dynamic_shapes=shapes)
    context = ir.Context()
    context.allow_unregistered_dialects = True
    load_named_dialects(found.bytecode, context)
    module = ir.Module.parse(found.bytecode, context)
    # Without names of attributes: texts are joined.
    text = "\n".join(str(op.operation.get_asm(use_local_scope=True)) for op in module.body)
    arrays = [
        {"element": _NAMES[each.dtype], "sizes": [int(size) for size in each.shape]}
        for each in outputs
    ]
    return {"text": text, "outputs": arrays}


def main(rows: Path, result: Path) -> int:
    """Imports rows, and writes what was found of each."""
    found: dict[str, Any] = {}
    for each in json.loads(rows.read_text()):
        row = Row.from_json(each)
        try:
            found[row.name] = imported(row)
        except HircError as error:
            found[row.name] = {"error": f"{type(error).__name__}: {error}"}
        except (RuntimeError, ValueError, TypeError, AssertionError) as error:
            # Of torch, where an operation cannot be exported.
            found[row.name] = {"error": f"torch: {type(error).__name__}: {error}"}
    result.write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
