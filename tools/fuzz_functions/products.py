"""Products of matrices: named, transposed, batched, with results of a wider type."""

from __future__ import annotations

import math

import numpy as np

from .numbers import BF16, F16, F32, F64, I8, I32, I64, Element, Numbers, known, settle
from .writer import MOST, Dim, Dims, Tensor, Values, Writer

_TYPES: tuple[tuple[Element, Element, Element], ...] = (
    (F32, F32, F32),
    (F32, F32, F32),
    (F16, F16, F16),
    (F16, F16, F32),
    (BF16, BF16, F32),
    (BF16, BF16, BF16),
    (F64, F64, F64),
    (I32, I32, I32),
    (I64, I64, I64),
    (I8, I8, I32),
    (I8, I8, I8),
    (F16, F32, F32),
)
# Loops of the operands and the result, in letters, and the operation that says them.
_NAMED = {
    "linalg.matmul": ("mk", "kn", "mn"),
    "linalg.batch_matmul": ("bmk", "bkn", "bmn"),
    "linalg.matvec": ("mk", "k", "m"),
    "linalg.vecmat": ("k", "kn", "n"),
    "linalg.dot": ("k", "k", ""),
    "linalg.batch_matvec": ("bmk", "bk", "bm"),
}
_OTHERS = (
    ("mk", "nk", "mn"),
    ("km", "kn", "mn"),
    ("bmk", "bnk", "bmn"),
    ("bmk", "kn", "bmn"),
    ("mbk", "nbk", "bmn"),
    ("mk", "nk", "nm"),
    ("mkl", "kln", "mn"),
    ("m", "n", "mn"),
    ("bk", "bk", "b"),
    ("abmk", "abkn", "abmn"),
)


def product(writer: Writer) -> None:
    """Adds a product."""
    random = writer.random
    left_type, right_type, out_type = random.choice(_TYPES)
    name = random.choice([*_NAMED, None, None, None])
    left, right, out = _NAMED[name] if name else random.choice(_OTHERS)
    first = writer.pick(lambda each: each.element is left_type and len(each.dims) == len(left))
    sizes: dict[str, Dim] = {}
    if first is not None and random.random() < 0.8:
        for letter, dim in zip(left, first.dims, strict=True):
            sizes[letter] = dim
    else:
        first = None
    for letter in left + right:
        if letter not in sizes:
            sizes[letter] = writer.dim(random.choice([*writer.sizes, 1, 2, 16, 33]))
    if math.prod(dim.size for dim in sizes.values()) > MOST * 4:
        return
    one = first or _operand(writer, left_type, tuple(sizes[letter] for letter in left))
    other = _operand(writer, right_type, tuple(sizes[letter] for letter in right))
    dims = tuple(sizes[letter] for letter in out)
    start = _begin(writer, out_type, dims)
    result = Tensor(writer.name(), out_type, dims)
    operands = (
        f"ins({one.name}, {other.name} : {one.type}, {other.type}) "
        f"outs({start.name} : {start.type})"
    )
    if name is not None:
        writer.add(f"{result.name} = {name} {operands} -> {result.type}")
    else:
        _write_generic(writer, (left, right, out), (one, other, start), operands, result)

    def evaluate(values: Values) -> None:
        values[result.name] = multiply(
            out_type,
            f"{left},{right}->{out}",
            values[one.name],
            values[other.name],
            values[start.name],
        )

    writer.steps.append(evaluate)
    writer.result(result)


def _operand(writer: Writer, element: Element, dims: Dims) -> Tensor:
    shape = tuple(dim.size for dim in dims)
    found = writer.pick(lambda each: each.element is element and each.shape == shape)
    if found is not None and not found.is_scalar and writer.random.random() < 0.7:
        return found
    return writer.argument(element, dims)


def _begin(writer: Writer, element: Element, dims: Dims) -> Tensor:
    texts = [dim.text for dim in dims]
    if writer.random.random() < 0.25:
        found = writer.pick(
            lambda each: (
                each.element is element
                and not each.is_scalar
                and [dim.text for dim in each.dims] == texts
                and each.shape == tuple(dim.size for dim in dims)
            )
        )
        if found is not None:
            return found
    return writer.filled(element, dims, writer.random.choice((0, 0, 0, 1)))


def _write_generic(
    writer: Writer,
    letters: tuple[str, str, str],
    tensors: tuple[Tensor, Tensor, Tensor],
    operands: str,
    result: Tensor,
) -> None:
    loops = sorted(set("".join(letters)))
    writer.random.shuffle(loops)
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(each)})>" for each in letters)
    kinds = ", ".join('"parallel"' if loop in letters[2] else '"reduction"' for loop in loops)
    names = [writer.name() for _ in tensors]
    out = result.element
    lines: list[str] = []
    factors: list[str] = []
    for name, tensor in zip(names[:2], tensors[:2], strict=True):
        if tensor.element is not out:
            wide = writer.name()
            word = "extf" if out.is_float else "extsi"
            lines.append(f"  {wide} = arith.{word} {name} : {tensor.element.name} to {out.name}")
            name = wide
        factors.append(name)
    ending = "f" if out.is_float else "i"
    part, total = writer.name(), writer.name()
    lines.append(f"  {part} = arith.mul{ending} {factors[0]}, {factors[1]} : {out.name}")
    lines.append(f"  {total} = arith.add{ending} {names[2]}, {part} : {out.name}")
    arguments = ", ".join(
        f"{name}: {tensor.element.name}" for name, tensor in zip(names, tensors, strict=True)
    )
    text = "\n".join(lines)
    writer.add(
        f"{result.name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
        f"{operands} {{\n^bb0({arguments}):\n{text}\n"
        f"  linalg.yield {total} : {out.name}\n}} -> {result.type}"
    )


def multiply(
    element: Element, letters: str, one: Numbers, other: Numbers, start: Numbers
) -> Numbers:
    """Returns `start` and a product, which is summed in any order."""
    sure = (known(one) * 1.0, known(other) * 1.0)
    missing = np.einsum(letters, 1 - sure[0], np.ones_like(sure[1])) + np.einsum(
        letters, np.ones_like(sure[0]), 1 - sure[1]
    )
    is_sure = (missing == 0) & known(start)
    if not element.is_float:
        total = np.einsum(
            letters, one.value.astype(element.dtype), other.value.astype(element.dtype)
        )
        return Numbers((total + start.value).astype(element.dtype), np.where(is_sure, 0.0, np.inf))
    errors = [np.where(known(each), each.error, 0.0) for each in (one, other, start)]
    # What is not finite is added where it is: einsum of numpy multiplies in float64. Of an operand
    # with a stride of 0 it takes inf * (1 - 2), which is not inf - inf.
    factors = [np.array(each.value) for each in (one, other)]
    total = np.einsum(letters, *factors, optimize=False) + start.value
    sizes = [
        np.where(np.isfinite(each.value), np.abs(each.value), 0) for each in (one, other, start)
    ]
    size = np.einsum(letters, sizes[0], sizes[1]) + sizes[2]
    shift = (
        np.einsum(letters, errors[0], sizes[1] + errors[1])
        + np.einsum(letters, sizes[0], errors[1])
        + errors[2]
    )
    inputs, outputs = letters.split("->")
    reduced = set(inputs.replace(",", "")) - set(outputs)
    lengths = dict(zip(inputs.split(",")[0], one.value.shape, strict=True))
    count = math.prod(lengths.get(letter, 1) for letter in reduced) + 2
    whole = bool(
        np.all(one.value == np.rint(one.value))
        and np.all(other.value == np.rint(other.value))
        and np.all(start.value == np.rint(start.value))
    )
    is_exact = whole & (size < min(1 / element.step, 2.0**50)) & (shift == 0)
    inner = min(element.step, 2.0**-23)
    shift = shift + np.where(is_exact, 0.0, count * inner * size)
    # Infinities and nans among what has errors: an infinity times what may be zero.
    finite = np.isfinite(total)
    inexact = any(bool(np.any(each > 0)) for each in errors)
    is_sure = is_sure & (finite | (not inexact)) & (size < element.largest * 0.9)
    return settle(element, total, shift, is_sure, 1.0, whole=True)
