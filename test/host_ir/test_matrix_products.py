"""Matrix products of programs through a cuBLASLt that multiplies on the host, against torch in f64.

The programs are for the CPU device, with --products=always where nothing else is said.
"""

from __future__ import annotations

import pytest
import torch
from host_ir.libraries import library
from host_ir.matmul_programs import EINSUMS, HOST_IR, PAIRS, contraction, everything, layer, name_of
from hypothesis import given, settings
from hypothesis import strategies as st

from hirc.tools.bench_kernels.arrays import difference, empty, inputs_of
from hirc.tools.bench_kernels.catalogue import rows
from hirc.tools.bench_kernels.row import BUILDS, Row
from hirc.tools.bench_kernels.text import program_text
from support.fake_library import Fake

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("matrix_products")

# Optimised are those that `everything` has.
_FLAGS = ("-O0", "--schedules=tuned")
_DTYPES = {
    "i32": torch.int32,
    "i8": torch.int8,
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
}
# One rounding to the result's type; the library without a device adds up in f64.
_ROUNDING = {"f32": 2**-23, "f64": 2**-48, "f16": 2**-10, "bf16": 2**-7}


def numbers(shape: list[int], element: str, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator)
    return (values * 10 if element.startswith("i") else values).to(_DTYPES[element])


def agrees(got: torch.Tensor, wanted: torch.Tensor, result: str) -> bool:
    error = (got.double() - wanted).abs()
    return bool((error <= _ROUNDING[result] * wanted.abs() + 2**-24 * (result != "f64")).all())


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_products(fake: Fake, data: st.DataObject) -> None:
    programs = fake.library(everything())
    einsum, (element, result) = (
        data.draw(st.sampled_from(EINSUMS)),
        data.draw(st.sampled_from(PAIRS)),
    )
    inputs = einsum.partition("->")[0]
    sizes = {
        letter: data.draw(st.sampled_from([0, 1, 2, 3, 7, 17, 33]))
        for letter in sorted(set(inputs) - {","})
    }
    x, y = (
        numbers([sizes[letter] for letter in text], element, seed)
        for seed, text in enumerate(inputs.split(","))
    )
    run = getattr(programs, name_of(einsum, element, result))
    got: list[torch.Tensor] = []
    calls = fake.log(lambda: got.append(run(x, y)))
    assert agrees(got[0], torch.einsum(einsum, x.double(), y.double()), result)
    assert bool(calls) == all(sizes.values())


@pytest.mark.parametrize(("element", "result"), PAIRS)
def test_a_sum_is_added_to_what_is_there(fake: Fake, element: str, result: str) -> None:
    programs = fake.library(everything())
    x, y, z = numbers([5, 9], element, 0), numbers([9, 3], element, 1), numbers([5, 3], result, 2)
    run = getattr(programs, name_of("mk,kn->mn", element, result, accumulates=True))
    assert agrees(run(x, y, z), x.double() @ y.double() + z.double(), result)
    assert torch.equal(run(x[:, :0], y[:0], z), z)


def tf32_numbers(shape: list[int], seed: int) -> torch.Tensor:
    return (numbers(shape, "f32", seed).view(torch.int32) & -8192).view(torch.float32)


def is_tf32(values: torch.Tensor) -> bool:
    return not bool((values.view(torch.int32) & 8191).any())


@pytest.mark.parametrize("is_library", [True, False], ids=["library", "kernels"])
@pytest.mark.parametrize("result", ["f32", "tf32"])
def test_functions_on_tensors_of_tf32(fake: Fake, result: str, is_library: bool) -> None:
    text = contraction("mk,kn->mn", "tf32", result)
    text += contraction("bmk,bnk->bmn", "tf32", result)
    text += contraction("mk,kn->mn", "tf32", result, accumulates=True)
    programs = (fake.library if is_library else library)(text, *_FLAGS)
    x, y, z = tf32_numbers([5, 9], 0), tf32_numbers([9, 3], 1), tf32_numbers([5, 3], 2)
    product = x.double() @ y.double()
    got: list[torch.Tensor] = []

    def calls() -> None:
        got.append(getattr(programs, name_of("mk,kn->mn", "tf32", result))(x, y))
        batches = x.expand(2, 5, 9).contiguous(), y.t().expand(2, 3, 9).contiguous()
        got.append(getattr(programs, name_of("bmk,bnk->bmn", "tf32", result))(*batches))
        added = name_of("mk,kn->mn", "tf32", result, accumulates=True)
        got.append(getattr(programs, added)(x, y, z))

    assert len(fake.log(calls)) == (3 if is_library else 0)
    # The library without a device adds up in f64; a kernel in the type of the result.
    roundings = 1 if is_library else 9
    for each, wanted in zip(got, (product, product.expand(2, 5, 3), product + z), strict=True):
        step = 2**-11 if result == "tf32" else 2**-24
        assert bool(((each - wanted).abs() <= roundings * step * (4 + wanted.abs())).all())
        assert result == "f32" or is_tf32(each)


def test_operands_may_be_rounded_to_tf32(fake: Fake) -> None:
    text = contraction("mk,kn->mn", "f32", "f32")
    x, y = numbers([5, 9], "f32", 0), numbers([9, 3], "f32", 1)
    for flags, compute in (((), 68), (("--float32-products=tf32",), 77)):
        run = getattr(fake.library(text, *_FLAGS, *flags), name_of("mk,kn->mn", "f32", "f32"))
        *_, chosen, _ = fake.lines(lambda run=run: run(x, y))
        assert f" compute {compute} " in chosen


@pytest.mark.parametrize("layout", ["packed", "transposed", "strided", "gaps"])
def test_a_result_of_any_strides(fake: Fake, layout: str) -> None:
    programs = fake.library(everything())
    x, y = numbers([5, 9], "bf16", 0), numbers([9, 6], "bf16", 1)
    memory = torch.full((20, 20), 7.0, dtype=torch.bfloat16)
    out = {
        "packed": torch.empty(5, 6, dtype=torch.bfloat16),
        "transposed": memory[:6, :5].t(),
        "strided": memory[:5, :12:2],
        "gaps": memory[:10:2, 1:7],
    }[layout]
    getattr(programs, name_of("mk,kn->mn", "bf16", "bf16"))(x, y, out=out)
    assert agrees(out, x.double() @ y.double(), "bf16")
    assert layout == "packed" or int((memory == 7).sum()) == 370


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16", "tf32"])
def test_host_ir(fake: Fake, element: str) -> None:
    programs = fake.library(HOST_IR.format(element), *_FLAGS)
    kind = "f32" if element == "tf32" else element

    def operand(*shape: int, seed: int) -> torch.Tensor:
        return (
            tf32_numbers(list(shape), seed) if element == "tf32" else numbers([*shape], kind, seed)
        )

    def near(got: torch.Tensor, wanted: torch.Tensor) -> bool:
        if element == "tf32":
            return bool(((got - wanted).abs() <= 2**-10 * wanted.abs() + 2**-20).all())
        # A sum in f64 takes its bias after it is stored.
        return agrees(got, wanted, kind)

    for batch in (1, 4):
        x, y = operand(4, 3, 6, seed=0), operand(batch, 6, 5, seed=1)
        assert near(programs.matmul(x, y), x.double() @ y.double())
    weight, bias = operand(7, 6, seed=2), operand(7, seed=3)
    wanted = torch.nn.functional.linear(x.double(), weight.double(), bias.double())
    calls = fake.log(lambda: near(programs.linear(x, weight, bias), wanted))
    assert near(programs.linear(x, weight, bias), wanted)
    # The rows of all batches are one matrix; the bias is the library's, but of f64 and tf32.
    epilogue = 4 if element in ("f32", "f16", "bf16") else 1
    assert len(calls) == 1
    assert calls[0].startswith("cublasLtMatmul TN 1x 7x12x6 ")
    assert calls[0].endswith(f" epilogue {epilogue}")
    empty = programs.linear(x[..., :0], weight[:, :0].contiguous(), bias)
    assert near(empty, bias.double().expand(4, 3, 7))


_SCALE = 32
_ROWS = {(row.operation, row.element): row for row in rows("*matmul*", _SCALE)}


@pytest.mark.parametrize("row", _ROWS.values(), ids=lambda row: row.name)
def test_open_sizes_ask_for_the_same_algorithm(fake: Fake, row: Row) -> None:
    """Programs with and without their sizes, as the kernel benchmark has them."""
    programs = fake.library("\n".join(program_text(row, build) for build in BUILDS), *_FLAGS)
    x, y = inputs_of(row, "cpu")
    out = empty(row.outputs[0], "cpu")
    static, dynamic = (
        fake.lines(lambda build=build: getattr(programs, row.program(build))(x, y, out=out))
        for build in BUILDS
    )
    (first, second) = static[-2:]
    assert first.startswith("cublasLtMatmulAlgoGetHeuristic ")
    assert second.startswith("cublasLtMatmul ")
    assert dynamic == [first, second]
    assert difference(row, out, x.double() @ y.double()) is None


@pytest.mark.parametrize(
    ("activation", "epilogue"), [("plain", 4), ("relu", 6), ("gelu_tanh", 36), ("gelu_erf", 1)]
)
def test_a_layer_is_one_call(fake: Fake, activation: str, epilogue: int) -> None:
    """A transposed weight, a bias, an activation and a rounding, as frameworks write them."""
    element, result = ("f16", "f16") if activation == "relu" else ("bf16", "bf16")
    if activation == "gelu_tanh":
        result = "f32"
    programs = fake.library(layer(element, activation, result), *_FLAGS)
    x, w, b = numbers([5, 8], element, 0), numbers([6, 8], element, 1), numbers([6], result, 2)
    got: list[torch.Tensor] = []
    calls = fake.log(lambda: got.append(getattr(programs, activation)(x, w, b)))
    sums = torch.nn.functional.linear(x.double(), w.double(), b.double())
    wanted = {
        "plain": sums,
        "relu": sums.relu(),
        "gelu_tanh": torch.nn.functional.gelu(sums, approximate="tanh"),
        "gelu_erf": torch.nn.functional.gelu(sums),
    }[activation]
    assert len(calls) == 1
    assert calls[0].startswith("cublasLtMatmul TN 1x 6x5x8 ")
    assert calls[0].endswith(f" epilogue {epilogue}")
    error = (got[0].double() - wanted).abs()
    assert bool((error <= _ROUNDING[result] * wanted.abs() + 1e-6).all())
    # Where the sums are empty, the bias and what becomes of it are left.
    empty = getattr(programs, activation)(x[:, :0].contiguous(), w[:, :0].contiguous(), b)
    assert torch.equal(empty, empty[:1].expand(5, 6))


@pytest.mark.parametrize(("element", "result"), PAIRS)
def test_our_kernels_round_sums_once_too(fake: Fake, element: str, result: str) -> None:
    programs = library("\n".join(contraction("mk,kn->mn", *pair) for pair in PAIRS), *_FLAGS)
    x, y = numbers([9, 200], element, 0), numbers([200, 11], element, 1)
    run = getattr(programs, name_of("mk,kn->mn", element, result))
    got: list[torch.Tensor] = []
    assert fake.log(lambda: got.append(run(x, y))) == []
    wanted = x.double() @ y.double()
    error = (got[0].double() - wanted).abs()
    assert bool((error <= _ROUNDING[result] * wanted.abs() + 2**-12).all())


# Sizes that are known: small, a single row, no terms, and rows of many terms.
_KNOWN = [
    {"a": 2, "b": 3, "s": 2, "m": 17, "n": 9, "k": 33, "l": 5},
    {"a": 1, "b": 1, "s": 5, "m": 1, "n": 64, "k": 40, "l": 1},
    {"a": 2, "b": 2, "s": 1, "m": 6, "n": 4, "k": 0, "l": 3},
    {"a": 1, "b": 2, "s": 1, "m": 3, "n": 2, "k": 1001, "l": 2},
]
# Each form and each type of elements, of sizes in turn.
_SMALL_PAIRS = [*PAIRS, ("i32", "i32"), ("i8", "i32")]
_SMALL = [
    (einsum, _SMALL_PAIRS[number % len(_SMALL_PAIRS)], _KNOWN[number % len(_KNOWN)])
    for number, einsum in enumerate([*EINSUMS, *EINSUMS[:2]])
]


def test_small_products() -> None:
    programs = library(
        "\n".join(contraction(einsum, *pair, known=sizes) for einsum, pair, sizes in _SMALL),
        *_FLAGS,
    )
    for einsum, (element, result), sizes in _SMALL:
        inputs = einsum.partition("->")[0].split(",")
        x, y = (
            numbers([sizes[letter] for letter in text], element, seed)
            for seed, text in enumerate(inputs)
        )
        got = getattr(programs, name_of(einsum, element, result))(x, y)
        wanted = torch.einsum(einsum, x.double(), y.double())
        terms = torch.einsum(einsum, x.double().abs(), y.double().abs())
        # Sums are kept in f32, f64 or i32, and rounded once.
        sums = 0 if result == "i32" else 2**-50 if result == "f64" else 2**-21
        error = (got - wanted).abs()
        assert bool((error <= _ROUNDING.get(result, 0) * wanted.abs() + sums * terms).all()), einsum


def test_sizes_choose_between_kernels_and_the_library(fake: Fake) -> None:
    text = contraction("mk,kn->mn", "f32", "f32") + contraction(
        "bsk,nk->bsn", "bf16", "f32", known={"n": 600, "k": 2048}
    )
    programs = fake.library(text, products="library")
    run = getattr(programs, name_of("mk,kn->mn", "f32", "f32"))
    rows = getattr(programs, name_of("bsk,nk->bsn", "bf16", "f32"))
    got: list[torch.Tensor] = []
    for m, n, k, calls in (
        (64, 64, 256, 0),
        (64, 64, 257, 1),
        (128, 65, 128, 1),
        (250, 250, 64, 0),
        (250, 250, 68, 1),
        (3, 5, 0, 0),
    ):
        x, y = numbers([m, k], "f32", 0), numbers([k, n], "f32", 1)
        assert len(fake.log(lambda x=x, y=y: got.append(run(x, y)))) == calls, (m, n, k)
        assert torch.allclose(got[-1].double(), x.double() @ y.double(), atol=1e-4)
    weight = numbers([600, 2048], "bf16", 1)
    for b, s, calls in ((1, 1, 0), (1, 2, 1), (2, 1, 1), (0, 5, 0)):
        x = numbers([b, s, 2048], "bf16", 0)
        assert len(fake.log(lambda x=x: got.append(rows(x, weight)))) == calls, (b, s)
        assert torch.allclose(got[-1].double(), x.double() @ weight.double().T, atol=1e-3)
