"""Programs of a shape and a size: what `bench_scale` compiles.

Each function takes a number of operations, roughly, and returns a program's text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

_VECTOR = "tensor<?x4xf32>"
_MATRIX = "tensor<64x64xf32>"
_BUFFER = "memref<?xf32>"


def _function(
    lines: Sequence[str],
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    name: str = "main",
    kind: str = _MATRIX,
) -> str:
    """Returns a function on tensors of one type."""
    given = ", ".join(f"%{value}: {kind}" for value in inputs)
    types = ", ".join([kind] * len(outputs))
    values = ", ".join(f"%{value}" for value in outputs)
    body = "\n  ".join([*lines, f"return {values} : {types}"])
    return f"func.func @{name}({given}) -> ({types}) {{\n  {body}\n}}\n"


def chain(count: int) -> str:
    """Elementwise operations, each on the one before."""
    names = ["x", *(f"v{i}" for i in range(count))]
    lines = [
        f"%{names[i + 1]} = arith.{('addf', 'mulf', 'subf')[i % 3]} %{names[i]}, %x : {_VECTOR}"
        for i in range(count)
    ]
    return _function(lines, ["x"], [names[-1]], kind=_VECTOR)


def alternate(count: int) -> str:
    """Reductions and broadcasts in turn."""
    lines = ["%z = arith.constant 0.0 : f32"]
    steps = max(1, count // 6)
    value = "x"
    for i in range(steps):
        lines += [
            f"%e{i} = tensor.empty() : tensor<64xf32>",
            f"%f{i} = linalg.fill ins(%z : f32) outs(%e{i} : tensor<64xf32>) -> tensor<64xf32>",
            f"%s{i} = linalg.reduce {{ arith.addf }} ins(%{value} : {_MATRIX}) "
            f"outs(%f{i} : tensor<64xf32>) dimensions = [1]",
            f"%d{i} = tensor.empty() : {_MATRIX}",
            f"%b{i} = linalg.broadcast ins(%s{i} : tensor<64xf32>) outs(%d{i} : {_MATRIX}) "
            "dimensions = [1]",
            f"%v{i} = arith.subf %{value}, %b{i} : {_MATRIX}",
        ]
        value = f"v{i}"
    return _function(lines, ["x"], [value])


def recurrent(count: int) -> str:
    """Returns the steps of a recurrent network, which share their weights."""
    lines = ["%z = arith.constant 0.0 : f32", f"%e = tensor.empty() : {_MATRIX}"]
    lines.append(f"%f = linalg.fill ins(%z : f32) outs(%e : {_MATRIX}) -> {_MATRIX}")
    state = "h"
    for i in range(max(1, count // 5)):
        for result, left, right in (("p", "x", "w"), ("q", state, "u")):
            lines.append(
                f"%{result}{i} = linalg.matmul ins(%{left}, %{right} : {_MATRIX}, {_MATRIX}) "
                f"outs(%f : {_MATRIX}) -> {_MATRIX}"
            )
        lines += [
            f"%s{i} = arith.addf %p{i}, %q{i} : {_MATRIX}",
            f"%b{i} = arith.addf %s{i}, %x : {_MATRIX}",
            f"%h{i} = math.tanh %b{i} : {_MATRIX}",
        ]
        state = f"h{i}"
    return _function(lines, ["x", "h", "w", "u"], [state])


def products(count: int) -> str:
    """Matrix products, each of the one before."""
    lines = ["%z = arith.constant 0.0 : f32", f"%e = tensor.empty() : {_MATRIX}"]
    lines.append(f"%f = linalg.fill ins(%z : f32) outs(%e : {_MATRIX}) -> {_MATRIX}")
    names = ["x", *(f"p{i}" for i in range(count))]
    lines += [
        f"%{names[i + 1]} = linalg.matmul ins(%{names[i]}, %w : {_MATRIX}, {_MATRIX}) "
        f"outs(%f : {_MATRIX}) -> {_MATRIX}"
        for i in range(count)
    ]
    return _function(lines, ["x", "w"], [names[-1]])


def transposed(count: int) -> str:
    """Products of transposed matrices that were divided by sums of their squares."""
    row = "tensor<64xf32>"
    lines = ["%z = arith.constant 0.0 : f32", f"%e = tensor.empty() : {_MATRIX}"]
    lines.append(f"%f = linalg.fill ins(%z : f32) outs(%e : {_MATRIX}) -> {_MATRIX}")
    lines += [f"%r = tensor.empty() : {row}"]
    lines.append(f"%g = linalg.fill ins(%z : f32) outs(%r : {row}) -> {row}")
    value = "x"
    for i in range(max(1, count // 6)):
        lines += [
            f"%t{i} = linalg.transpose ins(%{value} : {_MATRIX}) outs(%e : {_MATRIX}) "
            "permutation = [1, 0]",
            f"%m{i} = arith.mulf %t{i}, %t{i} : {_MATRIX}",
            f"%s{i} = linalg.reduce {{ arith.addf }} ins(%m{i} : {_MATRIX}) outs(%g : {row}) "
            "dimensions = [0]",
            f"%b{i} = linalg.broadcast ins(%s{i} : {row}) outs(%e : {_MATRIX}) dimensions = [0]",
            f"%q{i} = arith.divf %t{i}, %b{i} : {_MATRIX}",
            f"%p{i} = linalg.matmul ins(%q{i}, %x : {_MATRIX}, {_MATRIX}) "
            f"outs(%f : {_MATRIX}) -> {_MATRIX}",
        ]
        value = f"p{i}"
    return _function(lines, ["x"], [value])


def fan(count: int) -> str:
    """One value that half of the operations use, and their sum."""
    half = max(2, count // 2)
    lines = [
        line
        for i in range(half)
        for line in (
            f"%c{i} = arith.constant dense<{i}.5> : {_MATRIX}",
            f"%u{i} = arith.mulf %x, %c{i} : {_MATRIX}",
        )
    ]
    lines += list(_sum([f"u{i}" for i in range(half)], _MATRIX))
    return _function(lines, ["x"], [f"t{half - 2}"])


def _sum(names: Sequence[str], kind: str) -> Iterator[str]:
    """Adds values up, as a tree; the last result is t with the number of values less two."""
    waiting = list(names)
    for i in range(len(names) - 1):
        left, right, *waiting = waiting
        yield f"%t{i} = arith.addf %{left}, %{right} : {kind}"
        waiting.append(f"t{i}")


def independent(count: int) -> str:
    """Small operations of sizes of their own, which nothing joins."""
    lines: list[str] = []
    types: list[str] = []
    for i in range(count):
        types.append(f"tensor<{i + 2}xf32>")
        lines.append(f"%u{i} = math.exp %x{i} : {types[i]}")
    given = ", ".join(f"%x{i}: {kind}" for i, kind in enumerate(types))
    body = "\n  ".join(lines)
    return (
        f"func.func @main({given}) -> ({', '.join(types)}) {{\n  {body}\n  "
        f"return {', '.join(f'%u{i}' for i in range(count))} : {', '.join(types)}\n}}\n"
    )


def inputs(count: int) -> str:
    """Returns the sum of that many inputs."""
    names = [f"x{i}" for i in range(max(2, count))]
    return _function(list(_sum(names, _MATRIX)), names, [f"t{len(names) - 2}"])


def outputs(count: int) -> str:
    """That many outputs of one input."""
    names = ["x", *(f"u{i}" for i in range(count))]
    lines = [f"%{names[i + 1]} = math.exp %{names[i]} : {_MATRIX}" for i in range(count)]
    return _function(lines, ["x"], names[1:])


def constants(count: int) -> str:
    """Returns the sum of that many constant tensors and an input."""
    lines = [
        f"%c{i} = arith.constant dense<[{i}.0, 1.0, 2.0, 3.0]> : tensor<4xf32>"
        for i in range(count)
    ]
    names = ["x", *(f"c{i}" for i in range(count))]
    lines += list(_sum(names, "tensor<4xf32>"))
    return _function(lines, ["x"], [f"t{len(names) - 2}"], kind="tensor<4xf32>")


def functions(count: int) -> str:
    """That many functions of one operation."""
    return "".join(
        _function([f"%y = math.exp %x : {_MATRIX}"], ["x"], ["y"], name=f"f{i}" if i else "main")
        for i in range(count)
    )


def _program(lines: Sequence[str], output: str) -> str:
    body = "\n  ".join(lines)
    return f""""hir.program"() ({{
^bb0(%x: {_BUFFER}):
  {body}
  "hir.output"(%{output}) {{name = "y"}} : ({_BUFFER}) -> ()
}}) {{sym_name = "main", inputs = [{{name = "x", sizes = ["n"]}}],
    function_type = ({_BUFFER}) -> {_BUFFER}}} : () -> ()
"""


def _binary(result: str, left: str, right: str) -> str:
    return (
        f'%{result} = "hir.binary"(%{left}, %{right}) {{kind = "add"}} '
        f": ({_BUFFER}, {_BUFFER}) -> {_BUFFER}"
    )


def host_program(count: int) -> str:
    """Returns a host program of operations, each on the one before."""
    names = ["x", *(f"v{i}" for i in range(count))]
    lines = [_binary(names[i + 1], names[i], "x") for i in range(count)]
    return _program(lines, names[-1])


def streams(count: int) -> str:
    """Returns a host program whose operations are spread over four streams, and meet every so
    often.
    """
    lines = ['%here = "hir.current_stream"() : () -> !hir.stream_t']
    lines += [f'%s{i} = "hir.stream"() {{name = "s{i}"}} : () -> !hir.stream_t' for i in range(4)]
    wait = '"hir.wait_stream"(%{}, %{}) : (!hir.stream_t, !hir.stream_t) -> ()'
    value = "x"
    for i in range(max(1, count // 15)):
        for j in range(4):
            lines += [
                wait.format(f"s{j}", "here"),
                f'"hir.set_stream"(%s{j}) : (!hir.stream_t) -> ()',
                _binary(f"v{i}_{j}", value, "x"),
            ]
        lines += [wait.format("here", f"s{j}") for j in range(4)]
        lines.append('"hir.set_stream"(%here) : (!hir.stream_t) -> ()')
        lines.append(_binary(f"a{i}", f"v{i}_0", f"v{i}_1"))
        lines.append(_binary(f"b{i}", f"v{i}_2", f"v{i}_3"))
        lines.append(_binary(f"w{i}", f"a{i}", f"b{i}"))
        value = f"w{i}"
    return _program(lines, value)


def body(count: int) -> str:
    """Returns a host program's loop over that many operations."""
    lines = [
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%c3 = arith.constant 3 : index",
        f'%total = "hir.set"(%x) : ({_BUFFER}) -> {_BUFFER}',
        '"hir.for"(%c0, %c3, %c1) ({',
        "^bb0(%i: index):",
    ]
    names = ["total", *(f"v{i}" for i in range(count))]
    lines += [_binary(names[i + 1], names[i], "x") for i in range(count)]
    lines += [
        f'"hir.set"(%{names[-1]}, %total) : ({_BUFFER}, {_BUFFER}) -> ()',
        "}) : (index, index, index) -> ()",
    ]
    return _program(lines, "total")


def branches(count: int) -> str:
    """Branches of a host program within branches, each with an operation."""
    lines = ["%yes = arith.constant true", f'%total = "hir.set"(%x) : ({_BUFFER}) -> {_BUFFER}']
    write = (
        f'"hir.binary"(%total, %x, %total) {{kind = "add"}} : ({", ".join([_BUFFER] * 3)}) -> ()'
    )
    for i in range(count):
        lines += [f'%r{i} = "hir.if"(%yes) ({{', write]
    lines += ["}, {", "^bb0:", "}) : (i1) -> !hir.results_t"] * count
    return _program(lines, "total")


def expression(count: int) -> str:
    """One operation whose body is an expression of that depth."""
    lines = [f"%v{i + 1} = arith.{('mulf', 'addf')[i % 2]} %v{i}, %v0 : f32" for i in range(count)]
    body = "\n    ".join(lines)
    return _function(
        [
            f"%e = tensor.empty() : {_MATRIX}",
            "%y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, "
            'affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}',
            f"    ins(%x : {_MATRIX}) outs(%e : {_MATRIX}) {{",
            "  ^bb0(%v0: f32, %unused: f32):",
            f"    {body}",
            f"    linalg.yield %v{count} : f32",
            f"  }} -> {_MATRIX}",
        ],
        ["x"],
        ["y"],
    )


def launches(count: int) -> str:
    """Returns a GPU program that launches that many kernels."""
    lines = ["%c1 = arith.constant 1 : index", "%m = gpu.alloc() : memref<4xf32>"]
    for i in range(max(1, count // 4)):
        lines += [
            "gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1)",
            "    threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {",
            f"  %v = arith.constant {i}.0 : f32",
            "  memref.store %v, %m[%g] : memref<4xf32>",
            "  gpu.terminator",
            "}",
        ]
    return "func.func @main() {\n  " + "\n  ".join([*lines, "return"]) + "\n}\n"


def kernel(count: int) -> str:
    """Returns a GPU program of one kernel of that many operations."""
    lines = [
        "%c1 = arith.constant 1 : index",
        "%m = gpu.alloc() : memref<4xf32>",
        "gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1)",
        "    threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {",
        "%v0 = memref.load %m[%g] : memref<4xf32>",
    ]
    lines += [f"%v{i + 1} = arith.{('mulf', 'addf')[i % 2]} %v{i}, %v0 : f32" for i in range(count)]
    lines += [f"memref.store %v{count}, %m[%g] : memref<4xf32>", "gpu.terminator", "}", "return"]
    return "func.func @main() {\n  " + "\n  ".join(lines) + "\n}\n"


def scalars(count: int) -> str:
    """Returns a program of the host alone, of that many operations on one number."""
    lines = ["%v0 = arith.constant 1 : i32"]
    lines += [
        f"%v{i + 1} = arith.{('muli', 'addi', 'xori')[i % 3]} %v{i}, %v{i // 2} : i32"
        for i in range(count)
    ]
    return (
        "func.func @main() -> i32 {\n  "
        + "\n  ".join([*lines, f"return %v{count} : i32"])
        + "\n}\n"
    )


KINDS: dict[str, Callable[[int], str]] = {
    make.__name__: make
    for make in (
        chain,
        alternate,
        recurrent,
        products,
        transposed,
        fan,
        independent,
        inputs,
        outputs,
        constants,
        functions,
        host_program,
        streams,
        body,
        branches,
        expression,
        launches,
        kernel,
        scalars,
    )
}
