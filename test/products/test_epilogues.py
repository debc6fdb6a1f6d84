"""What follows a product: part of the library's call, or computed as it is written.

Each program is looked at as a GPU build has it, and run on the CPU device with a cuBLASLt that
multiplies on the host, against what numpy makes of the operations.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
import torch

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.host_ir import HostIrOptions, host_ir_stages
from hirc.pipelines.pipeline import run_steps
from hirc.pipelines.products.options import MatmulOptions
from support.evaluate_generic import evaluate
from support.fake_library import Fake

from .epilogues import DROPS_NAN, LIBRARY, NEARLY, function

BODIES = {name: body for name, (body, _) in LIBRARY.items()} | NEARLY
# Kernels take long to build: of what is computed by them, some run.
RUN = [*LIBRARY, *list(NEARLY)[::3]]
# The sums are the elements of x, and w is of ones: rounding has no part in them.
_SUMS = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, 0.3, -0.6, 2.5, -3.25, 5.5, 7.0, -9.0, -11.0, 25.0, 100.0, -1e4),
        *(1e-8, -1e-8, 1e-30, 3e-39, -3e-39, 3e38, -3e38, np.inf, -np.inf, np.nan),
    ],
    np.float32,
)
_BIAS = np.array([0.0, -2.0, 0.75], np.float32)


@cache
def lowered(*, ignores_nan: bool = False) -> dict[str, str]:
    """The programs with large products before their kernels are made, each by its name."""
    texts = [
        function(name, body, rows=2048, terms=512, columns=2048) for name, body in BODIES.items()
    ]
    session = Session()
    with session.context:
        module = ir.Module.parse("\n".join(texts))
        options = MatmulOptions(library=True, ignores_nan=ignores_nan)
        for stage in host_ir_stages(
            HostIrOptions(executable=False, chips=("sm_90",), products=options)
        ):
            run_steps(module.operation, stage.steps)
            if stage.name == "compute":
                break
        programs = [op.operation for op in module.body if op.operation.name == "hir.program"]
        return {ir.StringAttr(op.attributes["sym_name"]).value: str(op) for op in programs}


def activation(program: str) -> str:
    """The activation in the one call of the library."""
    (call,) = re.findall(r'"hir.library_matmul".*', program)
    found = re.search(r'activation = "(\w+)"', call)
    return found[1] if found else ""


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_does_it(name: str) -> None:
    program = lowered()[name]
    assert activation(program) == LIBRARY[name][1]
    assert "linalg" not in program


@pytest.mark.parametrize("name", NEARLY)
def test_a_kernel_does_it(name: str) -> None:
    program = lowered()[name]
    assert activation(program) == ""
    assert program.count("linalg.generic") == 1
    # Nothing that the body computes is gone.
    assert {op for op in operations(NEARLY[name]) if op not in operations(program)} == set()


@pytest.mark.parametrize("name", DROPS_NAN)
def test_the_library_does_it_where_nans_do_not_matter(name: str) -> None:
    program = lowered(ignores_nan=True)[name]
    assert activation(program) == "relu"
    assert "linalg" not in program


def operations(text: str) -> set[str]:
    """The names of arithmetic in a text; constants come and go."""
    return set(re.findall(r"\b(?:arith|math)\.\w+", text)) - {"arith.constant"}


@pytest.mark.parametrize("name", RUN)
def test_it_computes_what_is_written(fake: Fake, name: str) -> None:
    sizes = {"rows": len(_SUMS), "terms": 1, "columns": len(_BIAS)}
    texts = {each: function(each, body, **sizes) for each, body in BODIES.items() if each in RUN}
    programs = fake.library("\n".join(texts.values()), "-O0")
    inputs = [_SUMS[:, None], np.ones((1, len(_BIAS)), np.float32), _BIAS]
    session = Session()
    with session.context:
        module = ir.Module.parse(texts[name])
        (wanted,) = evaluate(module.body.operations[0].operation, inputs)
    got: list[torch.Tensor] = []
    calls = fake.log(lambda: got.append(programs[name](*map(torch.from_numpy, inputs))))
    assert len(calls) == 1
    # Of a nan anything is right where there is none by the program. In gelu as it is written the
    # factors of great numbers overflow, or are 0 times an infinity.
    kept = np.abs(_SUMS) < 1e30 if "gelu" in name else ~np.isnan(_SUMS) | ("nnan" not in name)
    sums = np.abs(_SUMS)[kept, None]
    is_exact = not re.search(r"math\.(tanh|erf|exp|powf|fpowi)", BODIES[name])
    room = 0.0 if is_exact else 2e-6 * (1 + sums) * (1 + np.minimum(sums, 10))
    with np.errstate(all="ignore"):
        same = np.isclose(got[0].numpy()[kept], wanted[kept], 0, room, equal_nan=True)
    assert np.all(same), (got[0], wanted)
