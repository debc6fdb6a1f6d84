"""A process that compiles samples for the CPU device and compares what they give with torch's.

It tells of each sample, as a line of JSON, that it begins with it, and then how it came out.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from ...compiler.driver import Compilation
from ...compiler.errors import HircError, UnsupportedError
from ...compiler.loader import Library
from ...compiler.loader_calling import Calling
from ...compiler.options import Emit, Options
from ...compiler.source import Source
from ...compiler.target import Target
from ...dialects.mlir import ir, load_named_dialects
from ...frontends.torch.generators import GENERATOR
from ...frontends.torch.import_model import ImportedModel, import_model
from .samples import Sample, samples

# So many samples are compiled as one module.
_AT_ONCE = 24
# Relative and absolute: kernels add in another order, and exponents make that more.
_TOLERANCES = {
    torch.float32: (1e-4, 1e-4),
    torch.float64: (1e-7, 1e-7),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (5e-2, 5e-2),
    torch.complex64: (1e-4, 1e-4),
    torch.complex128: (1e-7, 1e-7),
}


@dataclass(frozen=True)
class _Ready:
    """A sample that is imported, as a function of this name."""

    sample: Sample
    name: str
    imported: ImportedModel


def work(names: Sequence[str], dtypes: Sequence[str], count: int, seed: int) -> None:
    """Surveys operators, and writes what it finds to the standard output."""
    ready: list[_Ready] = []
    for name in names:
        for dtype in dtypes:
            try:
                given = list(samples(name, getattr(torch, dtype), count, seed))
            except Exception as error:  # noqa: BLE001 - torch's own code
                _tell(f"{name} {dtype}", "unknown", f"no samples: {_first_line(error)}")
                continue
            for sample in given:
                _tell(sample.name, "begun")
                name_here = f"sample{len(ready)}"
                imported = _imported(sample, name_here)
                if imported is not None:
                    ready.append(_Ready(sample, name_here, imported))
        if len(ready) >= _AT_ONCE:
            _compare(ready)
            ready = []
    _compare(ready)
    _tell("", "ended")


def _tell(name: str, status: str, said: str = "") -> None:
    print(json.dumps({"sample": name, "status": status, "said": said}), flush=True)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]


def _imported(sample: Sample, name: str) -> ImportedModel | None:
    try:
        first, second = _eager(sample, 1), _eager(sample, 2)
    except Exception as error:  # noqa: BLE001 - torch's own code
        _tell(sample.name, "unknown", f"eager: {_first_line(error)}")
        return None
    if _difference(first, second) is not None:
        _tell(sample.name, "random")
        return None
    try:
        imported = import_model(sample.function, sample.tensors, name=name)
    except Exception as error:  # noqa: BLE001 - errors other than hirc's are what is looked for
        _tell_error(sample, error)
        return None
    if f'"{GENERATOR}"' in imported.text:
        _tell(sample.name, "random")
        return None
    return imported


def _tell_error(sample: Sample, error: Exception) -> None:
    if isinstance(error, UnsupportedError):
        _tell(sample.name, "refused", str(error))
    else:
        _tell(sample.name, "failed", _first_line(error))


def _eager(sample: Sample, seed: int) -> Any:
    torch.manual_seed(seed)
    with torch.no_grad():
        return sample.function(*[each.clone() for each in sample.tensors])


def _compare(ready: Sequence[_Ready]) -> None:
    """Compiles them as one module; those with weights, and where that fails all, by themselves."""
    alone = [each for each in ready if each.imported.weights and len(ready) > 1]
    for each in alone:
        _compare([each])
    ready = [each for each in ready if each not in alone]
    if not ready:
        return
    _tell(", ".join(each.sample.name for each in ready), "begun")
    with tempfile.TemporaryDirectory(prefix="hirc-survey-") as folder:
        path = Path(folder) / "libsamples.so"
        options = Options(
            inputs=("samples",),
            output=str(path),
            emit=Emit.SHARED,
            targets=(Target.parse("cpu"),),
            opt_level=0,
        )
        try:
            Compilation(
                options, given={"samples": _source([each.imported for each in ready])}
            ).run()
            library = Library(path, None)
        except Exception as error:  # noqa: BLE001 - see _imported
            if len(ready) == 1:
                _tell_error(ready[0].sample, error)
            else:
                half = len(ready) // 2
                _compare(ready[:half])
                _compare(ready[half:])
            return
        for each in ready:
            _tell(each.sample.name, "begun")
            _run(library, each)


def _source(imported: Sequence[ImportedModel]) -> Source:
    """One module with the functions of all."""
    if len(imported) == 1:
        return imported[0].source("samples")
    context = ir.Context()
    context.allow_unregistered_dialects = True
    modules: list[ir.Module] = []
    for each in imported:
        load_named_dialects(each.bytecode, context)
        modules.append(ir.Module.parse(each.bytecode, context))
    for module in modules[1:]:
        for op in [*module.body]:
            modules[0].body.append(op)
    return Source("samples", str(modules[0]).encode(), is_made=True)


def _run(library: Library, ready: _Ready) -> None:
    sample = ready.sample
    program = library.programs[ready.name]
    calling = Calling(ready.imported.calling.data, ready.name, ready.imported.calling.types)
    theirs = _eager(sample, 1)
    try:
        found = calling.tensors(
            tuple(each.clone(memory_format=torch.contiguous_format) for each in sample.tensors), {}
        )
        tensors = [found[place] for place in range(len(found))]
        results = program(*tensors)
        outputs = results if isinstance(results, tuple) else (results,)
        ours = calling.result(outputs, tensors)
    except HircError as error:
        _tell(sample.name, "failed", _first_line(error))
        return
    said = _difference(ours, theirs)
    _tell(sample.name, "right" if said is None else "wrong", said or "")


def _difference(ours: Any, theirs: Any) -> str | None:
    """Returns what is first different, or None."""
    for place, (one, other) in enumerate(_pairs(ours, theirs)):
        try:
            _close(one, other)
        except (AssertionError, TypeError, ValueError, RuntimeError) as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            return f"result {place}: {' '.join(lines[:3])}"[:300]
    return None


def _pairs(ours: Any, theirs: Any) -> Iterable[tuple[Any, Any]]:
    one, other = pytree.tree_leaves(ours), pytree.tree_leaves(theirs)
    if len(one) != len(other):
        return [(len(one), len(other))]
    return zip(one, other, strict=True)


def _close(ours: Any, theirs: Any) -> None:
    if not isinstance(theirs, Tensor):
        assert ours == theirs, f"{ours} is not {theirs}"
        return
    # Where no tensor is given what comes back is numpy's.
    ours = torch.as_tensor(ours)
    relative, absolute = _TOLERANCES.get(theirs.dtype, (0.0, 0.0))
    torch.testing.assert_close(ours, theirs, rtol=relative, atol=absolute, equal_nan=True)


if __name__ == "__main__":
    work(**json.loads(sys.argv[1]))
