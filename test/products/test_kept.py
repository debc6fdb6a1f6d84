"""Products that are nearly the library's, and what a call of it must not take with it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.host_ir import HostIrOptions, host_ir_stages
from hirc.pipelines.pipeline import run_steps
from hirc.pipelines.products.options import MatmulOptions
from support.evaluate_generic import Array, evaluate
from support.fake_library import Fake

_SIZES = {"m": 12, "n": 7, "k": 5}
_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def tensor(dims: str, element: str) -> str:
    return f"tensor<{''.join(f'{_SIZES[dim]}x' for dim in dims)}{element}>"


def _product(element: str, result: str) -> str:
    x, w, y = tensor("mk", element), tensor("kn", element), tensor("mn", result)
    return f"""
  %zero = arith.constant 0.0 : {result}
  %empty = tensor.empty() : {y}
  %filled = linalg.fill ins(%zero : {result}) outs(%empty : {y}) -> {y}
  %p = linalg.matmul ins(%x, %w : {x}, {w}) outs(%filled : {y}) -> {y}"""


def _following(
    reads: list[tuple[str, str, str]], body: str, element: str, result: str, dims: str = "mn"
) -> str:
    """An elementwise operation: each read is a name, its dims and its type."""
    maps = ", ".join(
        f"affine_map<(m, n) -> ({', '.join(each)})>" for each in (*(r[1] for r in reads), dims)
    )
    names = ", ".join(name for name, _, _ in reads)
    types = ", ".join(tensor(each, kind) for _, each, kind in reads)
    arguments = "".join(
        f"%{letter}: {kind}, " for letter, (_, _, kind) in zip("sct", reads, strict=False)
    )
    out = tensor(dims, result)
    return f"""
  %out = tensor.empty() : {out}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
    ins({names} : {types}) outs(%out : {out}) {{
  ^bb0({arguments}%o: {result}):
    {body}
    linalg.yield %y : {result}
  }} -> {out}"""


def _function(name: str, element: str, body: str, returned: str, kinds: str) -> str:
    bias = f"%row: {tensor('n', element)}, %column: {tensor('m', element)}"
    whole = f"%whole: {tensor('mn', element)}, %one: tensor<{element}>"
    x, w = tensor("mk", element), tensor("kn", element)
    return (
        f"func.func @{name}(%x: {x}, %w: {w}, {bias}, {whole}) -> ({kinds}) {{{body}\n"
        f"  return {returned} : {kinds}\n}}"
    )


def _elementwise(
    element: str,
    result: str,
    reads: list[tuple[str, str]],
    body: str,
    product: str | None = None,
    dims: str = "mn",
) -> tuple[str, str, str, str]:
    """The arguments of _function for a product and what follows it."""
    made = product or element
    operands = [("%p", "mn", made), *((name, each, element) for name, each in reads)]
    text = _product(element, made) + _following(operands, body, made, result, dims)
    return element, text, "%r", tensor(dims, result)


_ADD = "%y = arith.addf %s, %c : f32"
_RELU = "%z = arith.constant 0.0 : f32\n%y = arith.maximumf %s, %z : f32"
_SUM_IN_F64 = f"""
  %empty = tensor.empty() : {tensor("mn", "f32")}
  %r = linalg.generic {{
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%x, %w : {tensor("mk", "f32")}, {tensor("kn", "f32")})
    outs(%empty : {tensor("mn", "f32")}) {{
  ^bb0(%s: f32, %c: f32, %o: f32):
    %wide = arith.extf %s : f32 to f64
    %other = arith.extf %c : f32 to f64
    %term = arith.mulf %wide, %other : f64
    %sum = "hir.reduce_loops"(%term) {{kind = "addf", loops = array<i64: 2>}} : (f64) -> f64
    %y = arith.truncf %sum : f64 to f32
    linalg.yield %y : f32
  }} -> {tensor("mn", "f32")}"""
_BEGINNINGS = {
    "begun_with_minus_0": _product("f32", "f32").replace("constant 0.0", "constant -0.0"),
    "begun_with_least": _product("f32", "f32").replace("constant 0.0", "constant 0x00000001"),
}
_TWICE = _product("f32", "f32") + _following([("%p", "mn", "f32")], _RELU, "f32", "f32")

# For each: what it is, calls of the library, whether they have an epilogue, and kernels beside.
CASES: dict[str, tuple[tuple[str, str, str, str], int, bool, int]] = {
    "bias_of_rows": (_elementwise("f32", "f32", [("%row", "n")], _ADD), 1, True, 0),
    # The library would be called for each element of the bias.
    "bias_of_columns": (_elementwise("f32", "f32", [("%column", "m")], _ADD), 1, False, 1),
    "bias_turned": (_elementwise("f32", "f32", [("%row", "n")], _ADD, dims="nm"), 1, False, 1),
    "bias_of_columns_turned": (
        _elementwise("f32", "f32", [("%column", "m")], _ADD, dims="nm"),
        1,
        True,
        0,
    ),
    # The caller's result may have any strides, and gets the addend first.
    "matrix_added": (_elementwise("f32", "f32", [("%whole", "mn")], _ADD), 1, False, 1),
    "scalar_added": (_elementwise("f32", "f32", [("%one", "")], _ADD), 1, False, 1),
    "two_biases": (
        _elementwise(
            "f32",
            "f32",
            [("%row", "n"), ("%column", "m")],
            "%z = arith.addf %s, %c : f32\n%y = arith.addf %z, %t : f32",
        ),
        1,
        False,
        1,
    ),
    "index_added": (
        _elementwise(
            "f32",
            "f32",
            [],
            "%i = linalg.index 0 : index\n%j = arith.index_cast %i : index to i32\n"
            "%f = arith.sitofp %j : i32 to f32\n%y = arith.addf %s, %f : f32",
        ),
        1,
        False,
        1,
    ),
    "asserted": (
        _elementwise(
            "f32",
            "f32",
            [],
            "%low = arith.constant -1.0e+30 : f32\n%is = arith.cmpf ogt, %s, %low : f32\n"
            'cf.assert %is, "too small"\n' + _RELU,
        ),
        1,
        False,
        1,
    ),
    "used_twice": (("f32", _TWICE, "%r, %p", ", ".join([tensor("mn", "f32")] * 2)), 1, False, 1),
    "narrow_bias": (
        _elementwise("f16", "f16", [("%row", "n")], "%y = arith.addf %s, %c : f16"),
        1,
        True,
        0,
    ),
    "narrow_relu_of_a_wide_sum": (
        _elementwise(
            "f16",
            "f16",
            [],
            "%z = arith.constant 0.0 : f32\n%g = arith.maximumf %s, %z : f32\n"
            "%y = arith.truncf %g : f32 to f16",
            product="f32",
        ),
        1,
        True,
        0,
    ),
    "narrow_sum_widened": (
        _elementwise("f16", "f32", [], "%y = arith.extf %s : f16 to f32"),
        1,
        False,
        1,
    ),
    "wide_bias_of_a_narrow_sum": (
        _elementwise(
            "f16",
            "f32",
            [("%row", "n")],
            "%a = arith.extf %s : f16 to f32\n%b = arith.extf %c : f16 to f32\n"
            "%y = arith.addf %a, %b : f32",
        ),
        1,
        False,
        1,
    ),
    "relu_of_f64": (
        _elementwise(
            "f64", "f64", [], "%z = arith.constant 0.0 : f64\n%y = arith.maximumf %s, %z : f64"
        ),
        1,
        False,
        1,
    ),
    "f64_rounded": (
        _elementwise("f64", "f32", [], "%y = arith.truncf %s : f64 to f32"),
        1,
        False,
        1,
    ),
    **{
        name: (("f32", text, "%p", tensor("mn", "f32")), 1, False, 1)
        for name, text in _BEGINNINGS.items()
    },
    "sum_in_f64": (("f32", _SUM_IN_F64, "%r", tensor("mn", "f32")), 0, False, 1),
}


@cache
def texts() -> dict[str, str]:
    return {name: _function(name, *case) for name, (case, *_) in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_a_call_takes_what_it_may(name: str) -> None:
    _, calls, has_epilogue, kernels = CASES[name]
    session = Session()
    options = MatmulOptions(library=True, kernel_multiplications=0)
    with session.context:
        module = ir.Module.parse(texts()[name])
        for stage in host_ir_stages(
            HostIrOptions(executable=False, chips=("sm_90",), products=options)
        ):
            run_steps(module.operation, stage.steps)
            if stage.name == "compute":
                break
        program = str(module)
    assert program.count('"hir.library_matmul"') == calls
    assert program.count("linalg.generic") == kernels
    (first, *_) = [line for line in program.splitlines() if "library_matmul" in line] or [""]
    _, has_segments, segments = first.partition("operandSegmentSizes = array<i32: 1, 1, 1, ")
    has_bias, adds = segments.partition(">")[0].split(", ") if has_segments else "00"
    # What it begins with is written before, by a kernel.
    assert (adds == "1") == (name in _BEGINNINGS or name == "matrix_added")
    assert ("activation" in first or has_bias == "1") == has_epilogue


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_is_written(fake: Fake, name: str) -> None:
    programs = fake.library("\n".join(texts().values()), "-O0", "--schedules=general")
    (element, *_), calls, *_ = CASES[name]
    numbers = np.random.default_rng(0)
    inputs: list[Array] = [
        numbers.standard_normal([_SIZES[dim] for dim in dims]).astype(_FLOATS[element])
        for dims in ("mk", "kn", "n", "m", "mn", "")
    ]
    session = Session()
    with session.context:
        module = ir.Module.parse(texts()[name])
        wanted = evaluate(module.body.operations[0].operation, inputs)
    got: list[Any] = []
    made = fake.log(lambda: got.append(programs[name](*map(torch.from_numpy, inputs))))
    results = got[0] if isinstance(got[0], tuple) else (got[0],)
    assert len(made) == calls
    room = 4e-3 if element == "f16" else 1e-5
    for one, other in zip(results, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=room, atol=room)
    if name == "sum_in_f64":
        np.testing.assert_array_equal(results[0], wanted[0])
    if name == "narrow_sum_widened":
        # The rounding that the program asks for is there.
        assert np.array_equal(np.asarray(results[0]).astype(np.float16), results[0])
