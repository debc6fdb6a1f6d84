"""All rows: what is measured, at which sizes, and what each has to reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .row import Array, Row

_LONG = 2**28
_WIDE = 16384
_VOCABULARY = 50257
_PRIME = 16381
_FLOATS = ("f32", "bf16")
# What sizes that are scaled down keep: a window of three, an edge of two.
_SMALLEST = 5


@dataclass(frozen=True)
class _Program:
    """What a program takes and gives.

    `arrays` is "R C T, R i64 < C -> R T": inputs and the output, each its sizes' names, its element
    type (T the row's own, O what a product of T gives) and what integers are below.
    `derived` are sizes that follow from others. The rows' sizes are in the order of `names`.
    """

    arrays: str
    names: str
    share: float = 0.98
    derived: dict[str, Callable[[dict[str, int]], int]] = field(
        default_factory=dict[str, Callable[[dict[str, int]], int]]
    )


_PROGRAMS = {
    "add": _Program("N T, N T -> N T", "N"),
    "gelu_of_product": _Program("N T, N T -> N T", "N"),
    "row_sum": _Program("R C T -> R T", "R C"),
    "column_sum": _Program("R C T -> C T", "R C"),
    "full_sum": _Program("N T -> T", "N"),
    "softmax": _Program("R C T -> R C T", "R C", share=0.95),
    "layer_norm": _Program("R C T, C T, C T -> R C T", "R C"),
    "layer_norm_f64": _Program("R C T, C T, C T -> R C T", "R C"),
    "rms_norm": _Program("R C T, C T -> R C T", "R C"),
    "transpose": _Program("R C T -> C R T", "R C", share=0.95),
    "matmul": _Program("M K T, K N T -> M N O", "M N K"),
    "batch_matmul": _Program("B M K T, B K N T -> B M N O", "B M N K"),
    "bias_gelu": _Program("R C T, C T -> R C T", "R C"),
    "bias_gelu_tanh": _Program("R C T, C T -> R C T", "R C"),
    "add_transposed": _Program("R C T, C R T -> R C T", "R C"),
    "middle_sum": _Program("A B C T -> A C T", "A B C"),
    "cumsum": _Program("R C T -> R C T", "R C"),
    "cross_entropy": _Program("R C T, R i64 < C -> R T", "R C"),
    "cross_entropy_mean": _Program("R C T, R i64 < C -> T", "R C"),
    "log_softmax": _Program("R C T -> R C T", "R C"),
    "embedding": _Program("N i64 < V, V C T -> N C T", "N V C"),
    "argmax": _Program("R C T -> R i64", "R C"),
    "concatenate": _Program("R C T, R C T -> RR C T", "R C", derived={"RR": lambda s: 2 * s["R"]}),
    "concatenate_rows": _Program(
        "R C T, R C T -> R CC T", "R C", derived={"CC": lambda s: 2 * s["C"]}
    ),
    "pad": _Program("R C T -> R CP T", "R C", derived={"CP": lambda s: s["C"] + 4}),
    "max_pool": _Program(
        "N C H W T -> N C HP WP T",
        "N C H W",
        derived={"HP": lambda s: s["H"] - 2, "WP": lambda s: s["W"] - 2},
    ),
}

# What an H200 can do, whose copy takes 4196 GB/s, with f32 (TFLOP/s of products, with bf16).
_FIGURES: dict[tuple[str, tuple[int, ...]], float] = {
    ("add", (_LONG,)): 4300,
    ("gelu_of_product", (_LONG,)): 4250,
    ("row_sum", (_WIDE, _WIDE)): 4200,
    ("column_sum", (_WIDE, _WIDE)): 4200,
    ("full_sum", (_LONG,)): 4200,
    ("softmax", (_WIDE, _WIDE)): 4000,
    ("layer_norm", (65536, 4096)): 4150,
    ("transpose", (_WIDE, _WIDE)): 4000,
}
_PRODUCT_FIGURES: dict[tuple[int, ...], float] = {
    (4096, 4096, 4096): 740.0,
    (8192, 8192, 8192): 775.0,
}
_SHAPES: list[tuple[str, tuple[int, ...]]] = [
    *_FIGURES,
    *(
        (norm, (_LONG // width, width))
        for norm in ("layer_norm", "rms_norm")
        for width in (768, 4096, 16384, 131072)
        if (norm, width) != ("layer_norm", 4096)
    ),
    ("layer_norm_f64", (65536, 4096)),
    *(("softmax", (_LONG // width, width)) for width in (128, 1000, 4096, 65536)),
    ("bias_gelu", (_WIDE, _WIDE)),
    ("bias_gelu_tanh", (_WIDE, _WIDE)),
    ("add_transposed", (_WIDE, _WIDE)),
    ("middle_sum", (512, 512, 1024)),
    ("cumsum", (65536, 4096)),
    ("cross_entropy", (8192, _VOCABULARY)),
    ("cross_entropy_mean", (8192, _VOCABULARY)),
    ("log_softmax", (8192, _VOCABULARY)),
    ("embedding", (2**20, _VOCABULARY, 768)),
    ("argmax", (_WIDE, _WIDE)),
    ("concatenate", (8192, _WIDE)),
    ("concatenate_rows", (_WIDE, 8192)),
    ("pad", (_WIDE, 16380)),
    ("max_pool", (16, 64, 512, 512)),
    ("add", (268435399,)),
    ("row_sum", (_PRIME, _PRIME)),
    ("column_sum", (_PRIME, _PRIME)),
    ("softmax", (_PRIME, _PRIME)),
    ("layer_norm", (65537, 4093)),
    ("transpose", (_PRIME, _PRIME)),
]
_PRODUCTS: list[tuple[str, tuple[int, ...], str]] = [
    ("matmul", (4096, 4096, 4096), "bf16"),
    ("matmul", (8192, 8192, 8192), "bf16"),
    ("matmul", (4096, 4096, 4096), "f16"),
    ("matmul", (8192, 8192, 8192), "f16"),
    ("matmul", (4096, 4096, 4096), "tf32"),
    ("matmul", (4096, 4096, 4096), "f32"),
    ("matmul", (4096, 4096, 4096), "f64"),
    ("batch_matmul", (64, 1024, 1024, 1024), "bf16"),
    ("batch_matmul", (64, 1024, 1024, 1024), "f32"),
]


def rows(patterns: str = "*", scale: int = 1) -> list[Row]:
    """Returns the rows whose names match, the device table's first; sizes are
    divided by `scale`.
    """
    named = {row.name: row for row in _all(scale)}
    return [row for row in named.values() if row.is_chosen(patterns)]


def _all(scale: int) -> Iterator[Row]:
    for element in _FLOATS:
        for operation, sizes in _SHAPES:
            figure = _FIGURES.get((operation, sizes), 0) if element == "f32" else 0
            yield _row(operation, sizes, element, scale, figure)
    for operation, sizes, element in _PRODUCTS:
        figure = _PRODUCT_FIGURES.get(sizes, 0) if element == "bf16" else 0
        yield _row(operation, sizes, element, scale, figure)


def _row(operation: str, sizes: tuple[int, ...], element: str, scale: int, figure: float) -> Row:
    program = _PROGRAMS[operation]
    if scale > 1:
        sizes = tuple(max(size // scale, min(size, _SMALLEST)) for size in sizes)
    named = dict(zip(program.names.split(), sizes, strict=True))
    derived = {name: size(named) for name, size in program.derived.items()}
    given, result = program.arrays.split(" -> ")
    inputs = tuple(_array(text, element, named) for text in given.split(", "))
    output = _array(result, element, {**named, **derived})
    moved = sum(array.bytes for array in (*inputs, output))
    if operation == "embedding":
        # The rows that are read, rather than the table: every token reads one.
        moved += output.bytes - inputs[1].bytes
    is_product = operation in ("matmul", "batch_matmul")
    return Row(
        operation=operation,
        element=element,
        sizes=named,
        inputs=inputs,
        outputs=(output,),
        bytes=moved,
        flops=2 * math.prod(sizes) if is_product else 0,
        # Rows without a figure are held to the peers alone.
        share=program.share if figure or is_product else 0.0,
        figure=figure if scale == 1 else 0,
        derived=derived,
    )


def _array(text: str, element: str, sizes: dict[str, int]) -> Array:
    words, _, below = text.partition(" < ")
    *dims, kind = words.split()
    elements = {"T": element, "O": "f32" if element == "tf32" else element}
    return Array(
        elements.get(kind, kind),
        tuple(sizes[dim] for dim in dims),
        sizes[below] if below else 0,
    )
