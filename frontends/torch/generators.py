"""Random numbers: what torch draws of a generator, made of numbers that Philox draws.

Decompositions make every operation that is random of `hirc::draw`, whose numbers are those of
torch's CUDA kernels. `keep_generator` then gives the program a buffer, the seed and the offset of a
generator, that every drawing reads and a call moves on.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeGuard

import torch
from torch import SymInt, Tensor
from torch._ops import HigherOrderOperator
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node

from ...compiler.errors import UnsupportedError
from .halves import widened
from .philox import count_of
from .user_errors import stack_position

# The state that a program's generator is.
GENERATOR = "hirc.generator"
_ATEN = torch.ops.aten
_Sizes = Sequence[int | SymInt]
# Overloads that take a generator, by those that take none.
_WITH_GENERATOR = {
    "default": "generator",
    "low": "low_generator",
    "low_dtype": "low_generator_dtype",
}

_LIBRARY = torch.library.Library("hirc", "DEF")
_LIBRARY.define(
    "draw(SymInt[] size, str kind, *, Device? device=None) -> Tensor",
    tags=(torch.Tag.nondeterministic_seeded,),
)
_LIBRARY.define("drawing(Tensor generator, SymInt offset, SymInt[] size, str kind) -> Tensor")
_LIBRARY.define("moved(SymInt offset, SymInt[] size, str kind) -> SymInt")
_LIBRARY.define("advance(Tensor generator, SymInt offset) -> Tensor")


def _empty(size: _Sizes, kind: str, *, device: torch.device | None = None) -> Tensor:
    return torch.empty([*size], dtype=_dtype(kind), device=device)


_LIBRARY.impl("draw", _empty, "CompositeExplicitAutograd")
DRAWING, MOVED, ADVANCE = (
    getattr(torch.ops.hirc, name).default for name in ("drawing", "moved", "advance")
)
_DRAW = torch.ops.hirc.draw.default


def _dtype(kind: str) -> torch.dtype:
    if kind.startswith("bits"):
        return torch.int64
    return torch.float64 if kind.endswith("64") else torch.float32


def random_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the decompositions of operations that draw from torch's generator."""
    found: dict[Any, Callable[..., Any]] = {
        _ATEN.rand.default: partial(_new, _uniform),
        _ATEN.randn.default: partial(_new, _normal),
        _ATEN.rand_like.default: partial(_like, _uniform),
        _ATEN.randn_like.default: partial(_like, _normal),
        _ATEN.uniform.default: _uniform_of,
        _ATEN.normal_functional.default: _normal_of,
        _ATEN.normal.float_float: _normal_of_size,
        _ATEN.normal.Tensor_Tensor: _normal_of_tensors,
        _ATEN.normal.Tensor_float: _normal_of_tensors,
        _ATEN.normal.float_Tensor: _normal_of_tensors,
        _ATEN.log_normal.default: _log_normal,
        _ATEN.cauchy.default: _cauchy,
        _ATEN.exponential.default: _exponential_of,
        _ATEN.geometric.default: _geometric,
        _ATEN.randint.default: _randint,
        _ATEN.randint.low: _randint_from,
        _ATEN.randint_like.default: _randint_like,
        _ATEN.randint_like.low_dtype: _randint_like_from,
        _ATEN.random.default: _random,
        _ATEN.random.to: _random_to,
        getattr(_ATEN.random, "from"): _random_from,
        _ATEN.bernoulli.default: _bernoulli,
        _ATEN.bernoulli.p: _bernoulli_of,
        _ATEN.bernoulli.Tensor: _bernoulli_of,
        _ATEN.dropout.default: _dropout,
        _ATEN.native_dropout.default: _native_dropout,
        _ATEN.multinomial.default: _multinomial,
        _ATEN.randperm.default: _randperm,
    }
    for each in [*found]:
        packet, name = each._overloadpacket, _WITH_GENERATOR.get(each._overloadname, "")
        # Versions of torch have different ones.
        if name in packet.overloads():
            found[getattr(packet, name)] = partial(_of_generator, found[each])
    return found


def _draw(size: _Sizes, kind: str, dtype: torch.dtype = torch.float32) -> Tensor:
    return _DRAW(list(size), f"{kind}{64 if dtype is torch.float64 else 32}")


def _uniform(size: _Sizes, dtype: torch.dtype, least: float = 0.0, most: float = 1.0) -> Tensor:
    """In [least, most): torch draws of (0, 1], and takes the one end for the other."""
    drawn = _draw(size, "uniform", dtype)
    if (least, most) != (0, 1):
        drawn = drawn * (most - least) + least
    value = drawn.to(dtype)
    return torch.where(value == most, least, value)


def _normal(size: _Sizes, dtype: torch.dtype, mean: float = 0.0, std: float = 1.0) -> Tensor:
    if dtype.is_complex:
        raise UnsupportedError("complex random numbers are not generated", stage="import")
    drawn = _draw(size, "normal", dtype)
    if (mean, std) != (0, 1):
        drawn = drawn * std + mean
    return drawn.to(dtype)


def _exponential(size: _Sizes, dtype: torch.dtype, rate: float = 1.0) -> Tensor:
    drawn = _draw(size, "uniform", dtype)
    # Never 0.
    half = torch.finfo(drawn.dtype).eps / 2
    return (-1 / rate * torch.where(drawn >= 1 - half, -half, drawn.log())).to(dtype)


def _integers(size: _Sizes, dtype: torch.dtype, least: Any, end: Any) -> Tensor:
    count = end - least
    if isinstance(count, SymInt) or count < 1 << 28:
        return (_DRAW(list(size), "bits32") % count + least).to(dtype)
    # A remainder of 64 bits without a sign.
    bits = _DRAW(list(size), "bits64")
    if count >= 1 << 62:
        raise UnsupportedError(
            f"random integers of {count} values are not generated",
            stage="import",
            hint="draw of fewer than 2**62",
        )
    more, last = bits.bitwise_right_shift(1) & (2**63 - 1), bits & 1
    return ((more % count * 2 + last) % count + least).to(dtype)


def _new(
    make: Callable[..., Tensor], size: _Sizes, *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    return make(size, dtype or torch.get_default_dtype())


def _like(
    make: Callable[..., Tensor], x: Tensor, *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    return make(x.shape, dtype or x.dtype)


def _refuse_generator(generator: Any) -> None:
    if generator is not None:
        raise UnsupportedError(
            "random numbers of a torch.Generator of their own are not generated",
            stage="import",
            hint="draw of the default generator: a program has one of its own, which its "
            "manual_seed sets",
        )


def _of_generator(make: Callable[..., Tensor], *given: Any, generator: Any, **named: Any) -> Tensor:
    _refuse_generator(generator)
    return make(*given, **named)


def _uniform_of(
    x: Tensor, least: float = 0.0, most: float = 1.0, *, generator: Any = None
) -> Tensor:
    _refuse_generator(generator)
    return _uniform(x.shape, x.dtype, least, most)


def _normal_of(x: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    return _normal(x.shape, x.dtype, mean, std)


def _normal_of_size(
    mean: float,
    std: float,
    size: _Sizes,
    *,
    generator: Any = None,
    dtype: torch.dtype | None = None,
    **_: Any,
) -> Tensor:
    _refuse_generator(generator)
    return _normal(size, dtype or torch.get_default_dtype(), mean, std)


def _normal_of_tensors(mean: Any, std: Any = 1.0, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    both = [each for each in (mean, std) if isinstance(each, Tensor)]
    shape = torch.broadcast_shapes(*(each.shape for each in both))
    return _normal(shape, both[0].dtype) * std + mean


def _log_normal(x: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    return (_draw(x.shape, "normal", x.dtype) * std + mean).exp().to(x.dtype)


def _cauchy(x: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    drawn = _draw(x.shape, "uniform", x.dtype)
    least = torch.finfo(drawn.dtype).eps
    angle = math.pi * (drawn.clamp(least, 1 - least) - 0.5)
    return (median + sigma * angle.tan()).to(x.dtype)


def _exponential_of(x: Tensor, rate: float = 1.0, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    return _exponential(x.shape, x.dtype, rate)


def _geometric(x: Tensor, p: float, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    return (_draw(x.shape, "uniform", x.dtype).log() / math.log1p(-p)).ceil().to(x.dtype)


def _randint(high: Any, size: _Sizes, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _integers(size, dtype or torch.int64, 0, high)


def _randint_from(
    low: Any, high: Any, size: _Sizes, *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    return _integers(size, dtype or torch.int64, low, high)


def _randint_like(x: Tensor, high: Any, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _integers(x.shape, dtype or x.dtype, 0, high)


def _randint_like_from(
    x: Tensor, low: Any, high: Any, *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    return _integers(x.shape, dtype or x.dtype, low, high)


def _random(x: Tensor, *, generator: Any = None) -> Tensor:
    """Integers up to the greatest of the type; of floats up to what all are exact to."""
    _refuse_generator(generator)
    if x.dtype is torch.int64:
        return _DRAW(list(x.shape), "bits64") & (2**63 - 1)
    if x.dtype is torch.bool:
        return (_DRAW(list(x.shape), "bits32") & 1).to(torch.bool)
    if not x.is_floating_point():
        return (_DRAW(list(x.shape), "bits32") & torch.iinfo(x.dtype).max).to(x.dtype)
    end = int(2 / torch.finfo(x.dtype).eps) + 1
    return _integers(x.shape, x.dtype, 0, end)


def _random_to(x: Tensor, to: int, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    return _integers(x.shape, x.dtype, 0, to)


def _random_from(x: Tensor, start: int, to: int | None, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    if to is None:
        if x.is_floating_point():
            to = int(2 / torch.finfo(x.dtype).eps) + 1
        else:
            to = 2 if x.dtype is torch.bool else torch.iinfo(x.dtype).max + 1
    return _integers(x.shape, x.dtype, start, to)


def _bernoulli(p: Tensor, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    return (_draw(p.shape, "uniform", p.dtype) <= p).to(p.dtype)


def _bernoulli_of(x: Tensor, p: float | Tensor, *, generator: Any = None) -> Tensor:
    _refuse_generator(generator)
    drawn = _draw(x.shape, "uniform", x.dtype)
    return (drawn <= p if isinstance(p, Tensor) else drawn < p).to(x.dtype)


def _dropout(x: Tensor, p: float, train: bool) -> Tensor:
    return _native_dropout(x, p, train)[0] if train and p else x.clone()


def _native_dropout(x: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    if train is False or not p:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    kept = _draw(x.shape, "uniform") < 1 - p
    wide = widened(x)
    return (wide * kept * (1 / (1 - p))).to(x.dtype), kept


def _multinomial(
    weights: Tensor, num_samples: Any, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Without replacement the greatest of weights that are divided by exponential numbers."""
    _refuse_generator(generator)
    if not replacement or num_samples == 1:
        ranks = weights / _exponential(weights.shape, weights.dtype)
        if num_samples == 1:
            return ranks.argmax(-1, keepdim=True)
        return ranks.topk(num_samples, -1).indices
    total = (weights.float() if weights.dtype != torch.float64 else weights).cumsum(-1)
    drawn = _draw([*weights.shape[:-1], num_samples], "uniform", weights.dtype)
    limit = drawn.unsqueeze(-1) * total[..., -1:].unsqueeze(-2)
    return (total.unsqueeze(-2) < limit).sum(-1)


def _randperm(n: Any, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    """Returns the order of as many numbers of 64 bits."""
    return _DRAW([n], "bits64").sort().indices.to(dtype or torch.int64)


def keep_generator(program: ExportedProgram) -> None:
    """Gives a program that draws a buffer, GENERATOR, which each drawing reads.

    Loops carry it on, and branches give it. Raises UnsupportedError where what draws is no step
    after another.
    """
    graph = program.graph
    if not _draws(program.graph_module):
        return
    drawn = [node for node in graph.nodes if node.target is _DRAW or _drawing_bodies(node)]
    generator = _placeholder(graph, _fake_mode(drawn[0]))
    after = _thread(program.graph_module, generator)
    (output,) = (node for node in graph.nodes if node.op == "output")
    assert isinstance(output.args[0], (tuple, list))
    signature = program.graph_signature
    for spec, value in zip(signature.output_specs, output.args[0], strict=True):
        if isinstance(spec.arg, TensorArgument) and isinstance(value, Node):
            spec.arg = TensorArgument(value.name)
    output.args = ((after, *output.args[0]),)
    argument = TensorArgument(generator.name)
    signature.input_specs.insert(0, InputSpec(InputKind.BUFFER, argument, GENERATOR, False))
    changed = OutputSpec(OutputKind.BUFFER_MUTATION, TensorArgument(after.name), GENERATOR)
    signature.output_specs.insert(0, changed)
    program.constants[GENERATOR] = torch.zeros(2, dtype=torch.int64)
    program.graph_module.recompile()


def _draws(module: GraphModule) -> bool:
    """Returns whether a graph draws, or what it calls."""
    return any(node.target is _DRAW or _drawing_bodies(node) for node in module.graph.nodes)


def _bodies(node: Node) -> list[GraphModule]:
    """Returns what a loop runs, or a branch."""
    if not isinstance(node.target, HigherOrderOperator):
        return []
    owner = node.graph.owning_module
    found = [getattr(owner, str(each.target)) for each in node.args if _is_attribute(each)]
    return [each for each in found if isinstance(each, GraphModule)]


def _is_attribute(value: object) -> TypeGuard[Node]:
    return isinstance(value, Node) and value.op == "get_attr"


def _drawing_bodies(node: Node) -> list[GraphModule]:
    return [body for body in _bodies(node) if _draws(body)]


def _fake_mode(node: Node) -> Any:
    value: Any = node.meta["val"]
    while not isinstance(value, Tensor):
        value = value[0]
    found: Any = value
    return found.fake_mode


def _placeholder(graph: Graph, fake_mode: Any) -> Node:
    """Returns a further first argument of a graph: the generator."""
    with graph.inserting_before(next(iter(graph.nodes))):
        generator = graph.placeholder("hirc_generator")
    with fake_mode:
        generator.meta["val"] = torch.empty(2, dtype=torch.int64)
    return generator


def _thread(module: GraphModule, generator: Node) -> Node:
    """Lets what is drawn in a graph begin with a generator. Returns that which is there after
    all.
    """
    graph, trace = module.graph, None
    offset: Any = 0
    for node in [*graph.nodes]:
        if node.target is _DRAW:
            trace = node.meta.get("stack_trace")
            offset = _draw_here(graph, node, generator, offset)
        elif _drawing_bodies(node):
            trace = node.meta.get("stack_trace")
            with graph.inserting_before(node):
                generator = _advanced(graph, generator, offset, trace)
            generator, offset = _draw_in_bodies(node, generator), 0
    (output,) = (node for node in graph.nodes if node.op == "output")
    with graph.inserting_before(output):
        return _advanced(graph, generator, offset, trace)


def _advanced(graph: Graph, generator: Node, offset: Any, trace: str | None) -> Node:
    made = graph.call_function(ADVANCE, (generator, offset))
    made.meta = {"val": generator.meta["val"], "stack_trace": trace}
    return made


def _draw_in_bodies(node: Node, generator: Node) -> Node:
    """Lets a loop carry the generator on, or a branch give it. Returns that which is there after
    it.
    """
    name = str(node.target)
    # Which argument holds what is carried on, and how many of the bodies do not give it.
    places = {"cond": 3, "scan": 1, "map_impl": 1, "while_loop": 2}
    bodies, place = _bodies(node), places.get(name)
    conditions = bodies[:1] if name == "while_loop" else []
    if place is None or any(map(_draws, conditions)):
        raise UnsupportedError(
            f"random numbers are not generated within {'the condition of ' * bool(place)}{name}",
            position=stack_position(node.meta.get("stack_trace") or ""),
            stage="import",
            hint="draw them before, for all steps at once",
        )
    for number, body in enumerate(bodies):
        # Both branches may be one.
        if any(body is other for other in bodies[:number]):
            continue
        inner = _placeholder(body.graph, _fake_mode(generator))
        if body not in conditions:
            after = _thread(body, inner)
            (output,) = (each for each in body.graph.nodes if each.op == "output")
            assert isinstance(output.args[0], (tuple, list))
            output.args = ((after, *output.args[0]),)
        body.recompile()
    args: list[Any] = list(node.args)
    if name == "map_impl":
        node.target = torch.ops.higher_order.scan
        args.insert(1, (generator,))
    else:
        args[place] = (generator, *args[place])
    node.args = tuple(args)
    node.meta["val"] = (generator.meta["val"], *node.meta["val"])
    for user in [*node.users]:
        source, number = user.args
        user.args = (source, number + 1)  # pyright: ignore[reportOperatorIssue]
    with node.graph.inserting_after(node):
        after = node.graph.call_function(operator.getitem, (node, 0))
    after.meta = {"val": generator.meta["val"], "stack_trace": node.meta.get("stack_trace")}
    return after


def _draw_here(graph: Graph, node: Node, generator: Node, offset: int | Node) -> int | Node:
    """Puts a drawing in the place of a node. Returns the offset after it."""
    size, kind = node.args
    assert isinstance(size, (tuple, list))
    assert isinstance(kind, str)
    with graph.inserting_before(node):
        made = graph.call_function(DRAWING, (generator, offset, size, kind))
        made.meta = node.meta
        fixed = [each for each in size if isinstance(each, int)]
        if isinstance(offset, int) and len(fixed) == len(size):
            after: int | Node = offset + count_of(math.prod(fixed), kind)
        else:
            after = graph.call_function(MOVED, (offset, size, kind))
            after.meta = {"stack_trace": node.meta.get("stack_trace")}
    node.replace_all_uses_with(made)
    graph.erase_node(node)
    return after
