"""Random functions on tensors: elementwise, broadcasting, transposing and reducing linalg.generics.

All elements are i64, so that any order of a reduction gives the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

_BINARY = ("addi", "subi", "muli", "maxsi", "xori")
_KINDS = {"addi": 0, "muli": 1, "maxsi": -(2**63), "minsi": 2**63 - 1}
SMALL = (0, 1, 2, 3, 5)
# The shape of a tensor: which of the two sizes its dims have.
_SHAPES = ("rc", "cr", "r", "c", "")


@dataclass
class Graph:
    """A function's text in the making; `values` has the names of tensors by their shapes."""

    sizes: dict[str, int]
    dynamic: bool
    names: int = 0
    lines: list[str] = field(default_factory=list[str])
    values: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def type_of(self, shape: str) -> str:
        sizes = "".join("?x" if self.dynamic else f"{self.sizes[dim]}x" for dim in shape)
        return f"tensor<{sizes}i64>"

    def empty(self, shape: str) -> str:
        name = self.name()
        sizes = ", ".join(f"%size_{dim}" for dim in shape) if self.dynamic else ""
        self.lines.append(f"{name} = tensor.empty({sizes}) : {self.type_of(shape)}")
        return name

    def filled(self, shape: str, value: int) -> str:
        scalar, name = self.name(), self.name()
        empty = self.empty(shape)
        kind = self.type_of(shape)
        self.lines.append(f"{scalar} = arith.constant {value} : i64")
        self.lines.append(
            f"{name} = linalg.fill ins({scalar} : i64) outs({empty} : {kind}) -> {kind}"
        )
        return name

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def generic(
        self,
        loops: str,
        reads: list[tuple[str, str]],
        out: str,
        out_shape: str,
        body: list[str],
    ) -> None:
        """A linalg.generic over `loops` whose body names its elements %a, %b and %o."""
        dims = ", ".join(loops)
        maps = ", ".join(
            f"affine_map<({dims}) -> ({', '.join(shape)})>"
            for shape in (*(shape for _, shape in reads), out_shape)
        )
        kinds = ", ".join(f'"{"parallel" if dim in out_shape else "reduction"}"' for dim in loops)
        name = self.name()
        kind = self.type_of(out_shape)
        inputs = ", ".join(value for value, _ in reads)
        types = ", ".join(self.type_of(shape) for _, shape in reads)
        arguments = "".join(f"%{letter}: i64, " for letter, _ in zip("ab", reads, strict=False))
        self.lines += [
            f"{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
            f"  ins({inputs} : {types}) outs({out} : {kind}) {{",
            f"^bb0({arguments}%o: i64):",
            *(f"  {line}" for line in body),
            "  linalg.yield %y : i64",
            f"}} -> {kind}",
        ]
        self.values.append((name, out_shape))

    def text(self, returned: list[tuple[str, str]]) -> str:
        arguments = [f"%{shape}: {self.type_of(shape)}" for shape in ("rc", "cr", "r", "c")]
        results = ", ".join(self.type_of(shape) for _, shape in returned)
        names = ", ".join(name for name, _ in returned)
        return "\n".join(
            [
                f"func.func @main({', '.join(arguments)}) -> ({results}) {{",
                "%c0 = arith.constant 0 : index",
                "%c1 = arith.constant 1 : index",
                f"%size_r = tensor.dim %rc, %c0 : {self.type_of('rc')}",
                f"%size_c = tensor.dim %rc, %c1 : {self.type_of('rc')}",
                *self.lines,
                f"return {names} : {results}",
                "}",
            ]
        )


@st.composite
def graphs(draw: st.DrawFn, among: Sequence[int] = SMALL) -> tuple[str, dict[str, int]]:
    """The text of a function main, and the sizes r and c of its arguments rc, cr, r and c."""
    sizes = {dim: draw(st.sampled_from(among)) for dim in "rc"}
    graph = Graph(sizes, draw(st.booleans()))
    graph.values += [(f"%{shape}", shape) for shape in ("rc", "cr", "r", "c")]
    for _ in range(draw(st.integers(1, 9))):
        if draw(st.integers(0, 2)):
            _elementwise(graph, draw)
        else:
            _reduction(graph, draw)
    made = graph.values[4:]
    returned = [value for value in made[:-1] if draw(st.integers(0, 4)) == 0]
    return graph.text([*returned, made[-1]]), sizes


def _elementwise(graph: Graph, draw: st.DrawFn) -> None:
    first = draw(st.sampled_from(graph.values))
    second = draw(st.sampled_from(graph.values))
    if draw(st.integers(0, 5)) == 0:
        shape = draw(st.sampled_from(["rc", "r", "c"]))
        second = (graph.filled(shape, draw(st.integers(-3, 3))), shape)
    if len(second[1]) == 2 and not graph.dynamic and len(set(graph.sizes.values())) == 1:
        # A square may be read the other way round, and so at two places at once.
        second = (second[0], draw(st.sampled_from(["rc", "cr"])))
    dims = set(first[1]) | set(second[1])
    out = draw(st.sampled_from(["rc", "cr"])) if dims == {"r", "c"} else "".join(dims)
    if len(out) < 2 and draw(st.integers(0, 3)) == 0:
        out = "rc"
    body = [f"%z = arith.{draw(st.sampled_from(_BINARY))} %a, %b : i64"]
    if draw(st.integers(0, 3)):
        body.append("%y = arith.addi %z, %a : i64")
    else:
        # Expensive: a fused operation does not repeat it.
        body += ["%three = arith.constant 3 : i64", "%y = arith.divsi %z, %three : i64"]
    graph.generic(out, [first, second], graph.empty(out), out, body)


def _reduction(graph: Graph, draw: st.DrawFn) -> None:
    value = draw(st.sampled_from([each for each in graph.values if each[1]]))
    loops = value[1]
    kept = draw(st.sampled_from([shape for shape in _SHAPES if set(shape) < set(loops)]))
    kind = draw(st.sampled_from(sorted(_KINDS)))
    start = draw(st.sampled_from([_KINDS[kind], 2]))
    body = [f"%y = arith.{kind} %o, %a : i64"]
    graph.generic(loops, [value], graph.filled(kept, start), kept, body)


def folded_reduction() -> tuple[str, dict[str, int]]:
    """A graph with a sum that is fused with what goes over its elements, and then not needed.

    Rows of 0 elements have results nevertheless.
    """
    graph = Graph({"r": 3, "c": 0}, dynamic=True)
    matrix = ("%rc", "rc")
    graph.generic("rc", [matrix], graph.filled("r", 0), "r", ["%y = arith.addi %o, %a : i64"])
    total = graph.values[-1]
    body = [
        "%z = arith.xori %a, %b : i64",
        "%seven = arith.constant 7 : i64",
        "%q = arith.divsi %z, %seven : i64",
        "%y = arith.addi %q, %seven : i64",
    ]
    graph.generic("r", [total, total], graph.empty("r"), "r", body)
    sevens = graph.values[-1]
    graph.generic("rc", [matrix, sevens], graph.empty("rc"), "rc", ["%y = arith.addi %a, %b : i64"])
    return graph.text([sevens, graph.values[-1]]), graph.sizes
