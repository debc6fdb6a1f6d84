"""Random functions on tensors with matrix products, and what comes before and after them.

All elements are whole numbers that their types hold exactly, so that any order of a sum, and any
rounding, gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

INPUTS = ("ab", "bc", "cd", "abc", "bcd", "b", "c", "d")
# The greatest number up to which a type has all whole numbers.
_MOST = {"f16": 2**11, "f32": 2**24, "f64": 2**50}
_LARGEST_INPUT = 3
# Bodies of one element %s, of bound b, with what becomes of the bound.
_UNARY = {
    "maxnumf": "%y = arith.maxnumf %s, %zero : T",
    "maximumf": "%y = arith.maximumf %zero, %s : T",
    "ogt": "%is = arith.cmpf ogt, %s, %zero : T\n%y = arith.select %is, %s, %zero : T",
    "ult": "%is = arith.cmpf ult, %s, %zero : T\n%y = arith.select %is, %zero, %s : T",
    "arms_swapped": "%is = arith.cmpf ogt, %s, %zero : T\n%y = arith.select %is, %zero, %s : T",
    "clamp_below": "%y = arith.maximumf %s, %low : T",
    "clamp": "%z = arith.maxnumf %s, %low : T\n%y = arith.minnumf %z, %three : T",
    "relu3": "%z = arith.maxnumf %s, %zero : T\n%y = arith.minnumf %z, %three : T",
    "negative": "%y = arith.negf %s : T",
    "same": "",
}
_BINARY = {
    "sum": "%y = arith.addf %s, %c : T",
    "sum_turned": "%y = arith.addf %c, %s : T",
    "difference": "%y = arith.subf %s, %c : T",
    "greater": "%y = arith.maximumf %s, %c : T",
    "relu_of_sum": "%z = arith.addf %s, %c : T\n%y = arith.maxnumf %z, %zero : T",
    "clamp_of_sum": "%z = arith.addf %s, %c : T\n%y = arith.maxnumf %z, %low : T",
    "sum_twice": "%z = arith.addf %s, %c : T\n%y = arith.addf %z, %c : T",
}
_CONSTANTS = {"zero": "0.0", "low": "-2.0", "three": "3.0"}


@dataclass(frozen=True)
class Value:
    """A tensor: its dims by letters, its element type, and how great its numbers may be."""

    name: str
    dims: str
    element: str
    bound: int


@dataclass
class ProductGraph:
    """A function's text in the making; `sizes` has those of the letters."""

    random: Random
    sizes: dict[str, int]
    element: str
    is_open: bool
    names: int = 0
    lines: list[str] = field(default_factory=list[str])
    values: list[Value] = field(default_factory=list[Value])

    def kind(self, dims: str, element: str) -> str:
        """The type of a tensor."""
        sizes = "".join("?x" if self.is_open else f"{self.sizes[dim]}x" for dim in dims)
        return f"tensor<{sizes}{element}>"

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def add(self, dims: str, element: str, bound: int) -> Value:
        """A value that the next line is to define."""
        self.values.append(Value(self.name(), dims, element, bound))
        return self.values[-1]

    def empty(self, dims: str, element: str) -> str:
        name = self.name()
        sizes = ", ".join(f"%size_{dim}" for dim in dims) if self.is_open else ""
        self.lines.append(f"{name} = tensor.empty({sizes}) : {self.kind(dims, element)}")
        return name

    def filled(self, dims: str, element: str, number: int) -> str:
        scalar, name, kind = self.name(), self.name(), self.kind(dims, element)
        empty = self.empty(dims, element)
        self.lines += [
            f"{scalar} = arith.constant {number}.0 : {element}",
            f"{name} = linalg.fill ins({scalar} : {element}) outs({empty} : {kind}) -> {kind}",
        ]
        return name

    def generic(
        self, loops: str, reads: Sequence[Value], out: tuple[str, str, str], body: str, bound: int
    ) -> Value:
        """A generic whose body names its elements %s, %c, %o; `out` has name, dims and type."""
        start, dims, element = out
        made = self.add(dims, element, bound)
        maps = ", ".join(
            f"affine_map<({', '.join(loops)}) -> ({', '.join(each)})>"
            for each in (*(read.dims for read in reads), dims)
        )
        kinds = ", ".join('"parallel"' if dim in dims else '"reduction"' for dim in loops)
        types = ", ".join(self.kind(read.dims, read.element) for read in reads)
        names = ", ".join(read.name for read in reads)
        arguments = "".join(
            f"%{letter}: {read.element}, " for letter, read in zip("sc", reads, strict=False)
        )
        kind = self.kind(dims, element)
        self.lines += [
            f"{made.name} = linalg.generic {{indexing_maps = [{maps}],",
            f"  iterator_types = [{kinds}]}}",
            f"  ins({names} : {types}) outs({start} : {kind}) {{",
            f"^bb0({arguments}%o: {element}):",
            body,
            f"}} -> {kind}",
        ]
        return made

    def text(self, name: str, returned: Sequence[Value]) -> str:
        inputs = [(f"%in_{dims}", self.kind(dims, self.element)) for dims in INPUTS]
        taken = ", ".join(f"{value}: {kind}" for value, kind in inputs)
        results = ", ".join(self.kind(each.dims, each.element) for each in returned)
        places = {dim: (dims, dims.index(dim)) for dims in INPUTS for dim in dims}
        sizes: list[str] = []
        for dim, (dims, place) in places.items():
            sizes += [
                f"%place_{dim} = arith.constant {place} : index",
                f"%size_{dim} = tensor.dim %in_{dims}, %place_{dim} : "
                + self.kind(dims, self.element),
            ]
        names = ", ".join(each.name for each in returned)
        return "\n".join(
            [
                f"func.func @{name}({taken}) -> ({results}) {{",
                *sizes,
                *self.lines,
                f"return {names} : {results}",
                "}",
            ]
        )


def product_graph(random: Random, name: str, among: Sequence[int]) -> tuple[str, dict[str, int]]:
    """The text of a function of the INPUTS, and the sizes of the letters."""
    sizes = {dim: random.choice(among) for dim in "abcd"}
    element = random.choice(["f32", "f32", "f16", "f64"])
    graph = ProductGraph(random, sizes, element, random.random() < 0.5)
    graph.values += [Value(f"%in_{dims}", dims, element, _LARGEST_INPUT) for dims in INPUTS]
    for _ in range(random.randint(1, 3)):
        product = _product(graph)
        for _ in range(random.choice((0, 1, 1, 1, 2))):
            # Mostly what alone reads a product.
            latest = graph.values[-1]
            _elementwise(graph, latest if random.random() < 0.8 else product)
    made = graph.values[len(INPUTS) :]
    others = [value for value in made[:-1] if random.random() < 0.1]
    return graph.text(name, [*others, made[-1]]), sizes


def _small(graph: ProductGraph, value: Value) -> Value:
    """The value, clamped where its numbers are great."""
    if value.bound <= _LARGEST_INPUT:
        return value
    body = (
        _constants(value.element)
        + f"%z = arith.maximumf %s, %low : {value.element}\n"
        + f"%y = arith.minimumf %z, %three : {value.element}\nlinalg.yield %y : {value.element}"
    )
    start = graph.empty(value.dims, value.element)
    out = (start, value.dims, value.element)
    return graph.generic(value.dims, [value], out, body, _LARGEST_INPUT)


def _constants(element: str) -> str:
    return "".join(
        f"%{name} = arith.constant {number} : {element}\n" for name, number in _CONSTANTS.items()
    )


def _operand(graph: ProductGraph, value: Value) -> Value:
    """The value, a transposed copy or a repetition of it."""
    choice = graph.random.random()
    kind = graph.kind(value.dims, value.element)
    if choice < 0.2 and len(value.dims) > 1:
        order = graph.random.sample(range(len(value.dims)), len(value.dims))
        dims = "".join(value.dims[axis] for axis in order)
        empty = graph.empty(dims, value.element)
        made = graph.add(dims, value.element, value.bound)
        graph.lines.append(
            f"{made.name} = linalg.transpose ins({value.name} : {kind}) "
            f"outs({empty} : {graph.kind(dims, value.element)}) permutation = {order}"
        )
        return made
    missing = [dim for dim in "abcd" if dim not in value.dims]
    if choice < 0.3 and len(value.dims) < 3:
        axis, dim = graph.random.randint(0, len(value.dims)), graph.random.choice(missing)
        dims = value.dims[:axis] + dim + value.dims[axis:]
        empty = graph.empty(dims, value.element)
        made = graph.add(dims, value.element, value.bound)
        graph.lines.append(
            f"{made.name} = linalg.broadcast ins({value.name} : {kind}) "
            f"outs({empty} : {graph.kind(dims, value.element)}) dimensions = [{axis}]"
        )
        return made
    return value


def _product(graph: ProductGraph) -> Value:
    random = graph.random
    first = random.choice([value for value in graph.values if value.dims])
    fitting = [
        value
        for value in graph.values
        if set(value.dims) & set(first.dims) and value.element == first.element
    ]
    first = _operand(graph, _small(graph, first))
    second = _operand(graph, _small(graph, random.choice(fitting)))
    shared = sorted(set(first.dims) & set(second.dims))
    summed = random.sample(shared, random.choice((1, 1, 1, min(2, len(shared)))))
    kept = [dim for dim in sorted({*first.dims, *second.dims}) if dim not in summed]
    random.shuffle(kept)
    dims = "".join(kept)
    wide = "f32" if first.element == "f16" and random.random() < 0.5 else first.element
    terms = 1
    for dim in summed:
        terms *= graph.sizes[dim]
    bound = first.bound * second.bound * terms
    starts = [
        value
        for value in graph.values
        if (value.dims, value.element) == (dims, wide) and value.bound <= bound
    ]
    if bound > _MOST[wide]:
        return graph.values[-1]
    start = graph.filled(dims, wide, 0)
    if random.random() < 0.1:
        start = graph.filled(dims, wide, 2)
        bound += 2
    elif starts and random.random() < 0.2:
        start = random.choice(starts).name
        bound *= 2
    is_matmul = (
        len(first.dims) == len(second.dims) == 2
        and first.dims[1] == second.dims[0]
        and dims == first.dims[0] + second.dims[1]
    )
    if is_matmul and random.random() < 0.7:
        made = graph.add(dims, wide, bound)
        kinds = [graph.kind(each.dims, each.element) for each in (first, second)]
        kind = graph.kind(dims, wide)
        graph.lines.append(
            f"{made.name} = linalg.matmul ins({first.name}, {second.name} : {', '.join(kinds)}) "
            f"outs({start} : {kind}) -> {kind}"
        )
        return made
    loops = "".join(random.sample([*dims, *summed], len(dims) + len(summed)))
    body = f"%p = arith.mulf %s, %c : {wide}\n"
    if wide != first.element:
        body = (
            f"%e = arith.extf %s : {first.element} to {wide}\n"
            f"%f = arith.extf %c : {first.element} to {wide}\n%p = arith.mulf %e, %f : {wide}\n"
        )
    body += f"%y = arith.addf %o, %p : {wide}\nlinalg.yield %y : {wide}"
    return graph.generic(loops, [first, second], (start, dims, wide), body, bound)


def _elementwise(graph: ProductGraph, value: Value) -> Value:
    random, element = graph.random, value.element
    others = [
        each
        for each in graph.values
        if each.element == element and set(each.dims) <= set(value.dims) and each != value
    ]
    vectors = [each for each in others if len(each.dims) == 1]
    if vectors and random.random() < 0.7:
        others = vectors
    dims = value.dims
    if random.random() < 0.2:
        dims = "".join(random.sample(dims, len(dims)))
    result = element
    if element == "f32" and value.bound <= 500 and random.random() < 0.3:
        result = "f16"
    bound = value.bound
    if others and random.random() < 0.6:
        other = random.choice(others)
        name, reads = random.choice(sorted(_BINARY)), [value, other]
        work = _BINARY[name]
        bound += 2 * other.bound
    else:
        name, reads = random.choice(sorted(_UNARY)), [value]
        work = _UNARY[name]
    bound = max(bound, _LARGEST_INPUT)
    if bound > _MOST[element]:
        return value
    last = "%y" if work else "%s"
    body = _constants(element) + work.replace("T", element) + "\n"
    if result != element:
        body += f"%n = arith.truncf {last} : {element} to {result}\n"
        last = "%n"
    body += f"linalg.yield {last} : {result}"
    loops = "".join(random.sample(dims, len(dims)))
    return graph.generic(loops, reads, (graph.empty(dims, result), dims, result), body, bound)
