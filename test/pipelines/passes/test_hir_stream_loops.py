"""Programs compute the same with and without their stream loops."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hirc.compiler.interpreter import interpret
from hirc.dialects.hir.layout import DYNAMIC
from hirc.dialects.hir.shapes import broadcast_shape, matmul_shape, reduce_shape
from hirc.dialects.mlir import ir
from hirc.pipelines import passes as _registers_our_passes  # noqa: F401 # pyright: ignore[reportUnusedImport]
from hirc.pipelines.pipeline import parse_pipeline, run_steps
from support.host_ir import parsed

LOOPS = "hir-form-stream-loops{pool=3}"
# The declared and the real sizes of the inputs. Every real size is 4 or 1, so that loops merge
# wherever nothing stands against it.
INPUTS = [
    ([4, 4], [4, 4]),
    ([DYNAMIC, 4], [4, 4]),
    ([DYNAMIC, DYNAMIC], [1, 4]),
    ([1, 4], [1, 4]),
    ([4], [4]),
    ([4, DYNAMIC, 4], [4, 4, 4]),
]


def transformed(text: str, pipeline: str) -> ir.Module:
    module = parsed(text)
    run_steps(module.operation, parse_pipeline(pipeline, module.context))
    assert module.operation.verify()
    return module


def memref(shape: list[int]) -> str:
    sizes = "".join(f"{'?' if size == DYNAMIC else size}x" for size in shape)
    return f"memref<{sizes}f64>"


@dataclass
class Program:
    """A program in the making: its lines, and its values with their declared and real sizes."""

    lines: list[str] = field(default_factory=list)
    values: list[tuple[str, list[int], list[int]]] = field(default_factory=list)

    def compute(
        self, op: str, operands: list[int], attributes: str, shape: list[int], real: list[int]
    ) -> None:
        """An operation with a fresh result."""
        names = ", ".join(self.values[each][0] for each in operands)
        types = ", ".join(memref(self.values[each][1]) for each in operands)
        name = f"%v{len(self.values)}"
        self.lines.append(
            f'  {name} = "hir.{op}"({names}) {{{attributes}}} : ({types}) -> {memref(shape)}'
        )
        self.values.append((name, shape, real))

    def text(self) -> str:
        inputs = [f"%v{number}: {memref(shape)}" for number, (shape, _) in enumerate(INPUTS)]
        outputs = [
            f'  "hir.output"({name}) : ({memref(shape)}) -> ()' for name, shape, _ in self.values
        ]
        types = ", ".join(memref(shape) for shape, _ in INPUTS)
        results = ", ".join(memref(shape) for _, shape, _ in self.values)
        return "\n".join(
            [
                '"hir.program"() ({',
                f"^bb0({', '.join(inputs)}):",
                *self.lines,
                *outputs,
                f'}}) {{sym_name = "main", function_type = ({types}) -> ({results})}} : () -> ()',
            ]
        )


def spread(data: st.DataObject, rank: int, among: list[int] | None = None) -> str:
    """A `stream_axis`, or none."""
    axes = list(range(rank)) if among is None else among
    axis = data.draw(st.sampled_from([None, *axes]))
    return "" if axis is None else f", stream_axis = {axis} : i64"


def add_operation(program: Program, data: st.DataObject) -> None:
    last = len(program.values) - 1
    number = st.just(last) | st.integers(0, last)
    x = data.draw(number)
    _, shape, real = program.values[x]
    match data.draw(st.sampled_from(["unary", "binary", "reduce", "matmul", "update"])):
        case "unary":
            program.compute("unary", [x], f'kind = "neg"{spread(data, len(shape))}', shape, real)
        case "binary":
            y = data.draw(number)
            result = broadcast_shape([shape, program.values[y][1]])
            sizes = broadcast_shape([real, program.values[y][2]])
            axis = spread(data, len(result))
            program.compute("binary", [x, y], f'kind = "sub"{axis}', result, sizes)
        case "reduce" if len(shape) > 1:
            gone = data.draw(st.integers(0, len(shape) - 1))
            keeps = data.draw(st.booleans())
            result, sizes = reduce_shape(shape, [gone], keeps), reduce_shape(real, [gone], keeps)
            stay = [dim for dim in range(len(result)) if not (keeps and dim == gone)]
            kept = ", keep_dims" if keeps else ""
            axis = spread(data, len(result), stay)
            attributes = f'kind = "sum", axes = array<i64: {gone}>{kept}{axis}'
            program.compute("reduce", [x], attributes, result, sizes)
        case "matmul" if len(shape) > 1:
            others = [
                other
                for other, (_, _, sizes) in enumerate(program.values)
                if len(sizes) > 1 and sizes[-2] == real[-1]
            ]
            if others:
                y = data.draw(st.sampled_from(others))
                result = matmul_shape(shape, program.values[y][1])
                sizes = matmul_shape(real, program.values[y][2])
                axis = spread(data, len(result)).removeprefix(", ")
                program.compute("matmul", [x, y], axis, result, sizes)
        case "update":
            same = [other for other, (_, _, sizes) in enumerate(program.values) if sizes == real]
            y, target = data.draw(st.sampled_from(same)), program.values[x]
            name, given, _ = program.values[y]
            axis = spread(data, len(shape))
            program.lines.append(
                f'  "hir.binary"({target[0]}, {name}, {target[0]}) {{kind = "add"{axis}}} : '
                f"({memref(shape)}, {memref(given)}, {memref(shape)}) -> ()"
            )
        case _:
            pass


@given(data=st.data())
@settings(max_examples=40)
def test_loops_over_slices_compute_the_same(data: st.DataObject) -> None:
    program = Program(values=[(f"%v{n}", *sizes) for n, sizes in enumerate(INPUTS)])
    for _ in range(data.draw(st.integers(2, 8))):
        add_operation(program, data)
    check_loops(program.text())


def test_an_open_size_that_is_1_repeats_along_the_loop() -> None:
    program = Program(values=[(f"%v{n}", *sizes) for n, sizes in enumerate(INPUTS)])
    axis = 'kind = "sub", stream_axis = 0 : i64'
    program.compute("binary", [1, 2], axis, [DYNAMIC, 4], [4, 4])
    program.compute("binary", [2, 6], axis, [DYNAMIC, 4], [4, 4])
    check_loops(program.text())


def check_loops(text: str) -> None:
    """A program gives the same after the passes."""

    def run(program: ir.Module) -> list[torch.Tensor]:
        random = torch.Generator().manual_seed(0)
        inputs = [torch.randint(-3, 4, sizes, generator=random).double() for _, sizes in INPUTS]
        return interpret(program, inputs)

    wanted = run(parsed(text))
    for pipeline in (LOOPS, f"{LOOPS},hir-expand-stream-loops"):
        found = transformed(text, pipeline)
        assert "stream_axis" not in str(found)
        for value, expected in zip(run(found), wanted, strict=True):
            torch.testing.assert_close(value, expected)
