"""What has an element for each of a product's results, added by the library in its call.

Programs run on the CPU device with a cuBLASLt that multiplies on the host, against numpy.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from support.fake_library import Fake

_TORCH = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
_BODIES = {
    "plain": "%y = arith.addf %s, %a : T",
    "bias": "%u = arith.addf %s, %b : T\n%y = arith.addf %u, %a : T",
    "bias_first": "%u = arith.addf %a, %b : T\n%y = arith.addf %u, %s : T",
    "relu": "%u = arith.addf %a, %s : T\n%z = arith.constant 0.0 : T\n"
    "%y = arith.maximumf %u, %z : T",
}


def _function(name: str, element: str, *, batch: bool = False) -> str:
    """A product with what is made of it, of open sizes."""
    lead, loops, open_sizes = ("?x", "b, m, n", "%b0, %m, %n") if batch else ("", "m, n", "%m, %n")
    whole, right = f"tensor<{lead}?x?x{element}>", f"tensor<{lead}?x?x{element}>"
    row = f"tensor<?x{element}>"
    maps = [f"affine_map<({loops}) -> ({text})>" for text in (loops, "n", loops, loops)]
    first, last = (1, 2) if batch else (0, 1)
    product = "batch_matmul" if batch else "matmul"
    kinds = ", ".join(['"parallel"'] * (2 + batch))
    return f"""
func.func @{name}(%x: {whole}, %w: {right}, %bias: {row}, %c: {whole}) -> {whole} {{
  %zero = arith.constant 0.0 : {element}
  %at0 = arith.constant 0 : index
  %at1 = arith.constant {first} : index
  %at2 = arith.constant {last} : index
  %b0 = tensor.dim %x, %at0 : {whole}
  %m = tensor.dim %x, %at1 : {whole}
  %n = tensor.dim %w, %at2 : {right}
  %e = tensor.empty({open_sizes}) : {whole}
  %f = linalg.fill ins(%zero : {element}) outs(%e : {whole}) -> {whole}
  %p = linalg.{product} ins(%x, %w : {whole}, {right}) outs(%f : {whole}) -> {whole}
  %r = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{kinds}]}}
    ins(%p, %bias, %c : {whole}, {row}, {whole}) outs(%e : {whole}) {{
  ^bb0(%s: {element}, %b: {element}, %a: {element}, %old: {element}):
    {_BODIES[name.partition("_of_")[0]].replace(": T", f": {element}")}
    linalg.yield %y : {element}
  }} -> {whole}
  return %r : {whole}
}}"""


def _draw(*shape: int) -> np.ndarray:
    """Whole numbers, whose sums are exact."""
    generator = np.random.default_rng(len(shape) + sum(shape))
    return generator.integers(-3, 4, shape).astype(np.float32)


def _wanted(name: str, x: np.ndarray, w: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    total = x @ w + c + (b if name.startswith("bias") else 0.0)
    return np.maximum(total, 0.0) if name == "relu" else total


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("name", _BODIES)
def test_it_is_added_in_the_call(fake: Fake, name: str, element: str) -> None:
    texts = [_function(f"{each}_of_{kind}", kind) for each in _BODIES for kind in _TORCH]
    programs = fake.library("\n".join(texts), "-O0")
    values = [_draw(*shape) for shape in ((5, 7), (7, 6), (6,), (5, 6))]
    tensors = [torch.from_numpy(each).to(_TORCH[element]) for each in values]
    got: list[torch.Tensor] = []
    run = getattr(programs, f"{name}_of_{element}")
    calls = fake.log(lambda: got.append(run(*tensors)))
    # f64 has neither an activation nor a bias in the library.
    whole = element != "f64" or name == "plain"
    assert [("beta 1" in each) for each in calls] == [whole]
    wanted = _wanted(name, *values)
    np.testing.assert_array_equal(got[0].to(torch.float32).numpy(), wanted)


def test_it_may_be_an_operand_too(fake: Fake) -> None:
    programs = fake.library(_function("plain", "f32"), "-O0")
    x, w = _draw(6, 6), _draw(6, 6)
    given = torch.from_numpy(x)
    got = programs.plain(given, torch.from_numpy(w), torch.from_numpy(_draw(6)), given)
    np.testing.assert_array_equal(got.numpy(), x @ w + x)


_PART = """
func.func @part(%x: LEFT, %w: RIGHT, %c: WHOLE, %s: SQUARE) -> RESULT {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : RESULT
  %a = tensor.extract_slice %c[0, 1] [5, 6] [1, STEP] : WHOLE to RESULT
  %f = linalg.fill ins(%zero : f32) outs(%e : RESULT) -> RESULT
  %p = linalg.matmul ins(%x, %w : LEFT, RIGHT) outs(%f : RESULT) -> RESULT
  %r = linalg.add ins(%p, %a : RESULT, RESULT) outs(%e : RESULT) -> RESULT
  %n = linalg.negf ins(%r : RESULT) outs(%e : RESULT) -> RESULT
  %y = linalg.matmul ins(%n, %s : RESULT, SQUARE) outs(%f : RESULT) -> RESULT
  return %y : RESULT
}"""
_SIZES = {"LEFT": "5x7", "RIGHT": "7x6", "WHOLE": "5x18", "SQUARE": "6x6", "RESULT": "5x6"}


@pytest.mark.parametrize("step", [1, 2])
def test_it_may_be_a_part(fake: Fake, step: int) -> None:
    text = _PART.replace("STEP", str(step))
    for name, sizes in _SIZES.items():
        text = text.replace(name, f"tensor<{sizes}xf32>")
    programs = fake.library(text, "-O0")
    x, w, c, square = _draw(5, 7), _draw(7, 6), _draw(5, 18), _draw(6, 6)
    got = programs.part(*(torch.from_numpy(each) for each in (x, w, c, square)))
    wanted = -(x @ w + c[:, 1 : 1 + 6 * step : step]) @ square
    np.testing.assert_array_equal(got.numpy(), wanted)


@pytest.mark.parametrize("turned", [False, True])
def test_the_result_may_lie_anyhow(fake: Fake, turned: bool) -> None:
    programs = fake.library(_function("plain", "f32"), "-O0")
    x, w, c = _draw(5, 7), _draw(7, 6), _draw(5, 6)
    result = torch.full((6, 5), 9.0).T if turned else torch.full((5, 12), 9.0)[:, ::2]
    inputs = [torch.from_numpy(each) for each in (x, w, _draw(6), c)]
    programs.plain(*inputs, out=result)
    np.testing.assert_array_equal(result.numpy(), x @ w + c)


@pytest.mark.parametrize("sizes", [(3, 5, 7, 6), (1, 1, 1, 1), (2, 4, 0, 3), (0, 2, 2, 2)])
def test_of_every_matrix_of_a_batch(fake: Fake, sizes: tuple[int, int, int, int]) -> None:
    programs = fake.library(_function("plain", "f32", batch=True), "-O0")
    b, m, k, n = sizes
    x, w, c = _draw(b, m, k), _draw(b, k, n), _draw(b, m, n)
    inputs = [torch.from_numpy(each) for each in (x, w, _draw(n), c)]
    np.testing.assert_array_equal(programs.plain(*inputs).numpy(), x @ w + c)


@pytest.mark.parametrize("products", ["own", "auto"])
def test_kernels_add_it_too(fake: Fake, products: str) -> None:
    programs = fake.library(_function("bias", "f32"), "-O0", products=products)
    x, w, b, c = (_draw(*shape) for shape in ((70, 40), (40, 66), (66,), (70, 66)))
    inputs = [torch.from_numpy(each) for each in (x, w, b, c)]
    np.testing.assert_array_equal(programs.bias(*inputs).numpy(), x @ w + b + c)
