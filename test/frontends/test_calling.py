"""How models are called, as data: what is built of tensors and numbers comes back as it was."""

from __future__ import annotations

import inspect
import json
import re
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils import _pytree as pytree

from hirc.compiler.errors import InputError
from hirc.compiler.loader_calling import Calling
from hirc.compiler.loader_straight import model_function
from hirc.frontends.torch.calling import bind, constant, describe


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Point:
    x: Any
    y: Any = None


pytree.register_dataclass(Point)
_TENSOR = torch.zeros(1)
_PLAIN_KEYS = st.one_of(st.text(max_size=3), st.integers(0, 9))
_KEYS = st.one_of(_PLAIN_KEYS, st.tuples(_PLAIN_KEYS, st.tuples(_PLAIN_KEYS)))
_LEAVES = st.one_of(
    st.just(_TENSOR), st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)
)


def _containers(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.dictionaries(_KEYS, children, max_size=3),
        st.dictionaries(_KEYS, children, max_size=3).map(OrderedDict),
        st.tuples(children, children).map(lambda both: Pair(*both)),
        st.tuples(children, children).map(lambda both: Point(*both)),
        st.lists(children, max_size=2).map(lambda some: defaultdict(list, enumerate(some))),
    )


_TREES = st.recursive(_LEAVES, _containers, max_leaves=8)


def _same_again(x: Any) -> Any:
    return x


def _nodes(leaves: list[Any]) -> list[dict[str, Any]]:
    count = iter(range(len(leaves)))
    return [
        {"tensor": next(count)} if isinstance(leaf, torch.Tensor) else dict(constant(leaf))
        for leaf in leaves
    ]


def _calling(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, function: Any) -> Calling:
    """The calling of a function that was called so once and gave that, read from its JSON."""
    signature, args, kwargs = bind(function, args, kwargs)
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    results, out_spec = pytree.tree_flatten(result)
    made = describe(in_spec, _nodes(leaves), out_spec, _nodes(results), signature, None, {}, {})
    return Calling(json.loads(json.dumps(made.data)), "main", made.types)


def _same(one: Any, other: Any) -> bool:
    leaves, spec = pytree.tree_flatten(one)
    others, other_spec = pytree.tree_flatten(other)
    return spec == other_spec and all(
        mine is theirs or (type(mine) is type(theirs) and (mine == theirs or mine != mine))
        for mine, theirs in zip(leaves, others, strict=True)
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(_TREES)
def test_what_is_given_comes_back(tree: Any) -> None:
    calling = _calling((tree,), {}, tree, _same_again)
    tensors = calling.tensors((tree,), {})
    wanted = [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
    assert sorted(tensors) == list(range(len(wanted)))
    result = calling.result([tensors[place] for place in range(len(wanted))], [])
    assert _same(result, tree)


class _Value:
    is_scalar = False


class _Program:
    """A program that returns its inputs, or the outputs that were passed instead."""

    name = "main"

    def __init__(self, count: int) -> None:
        self.inputs = self.outputs = [_Value()] * count
        self.calls = list[dict[str, Any]]()

    def __call__(self, *tensors: Any, **options: Any) -> Any:
        if not all(isinstance(each, torch.Tensor) for each in tensors):
            raise InputError("of the program")
        self.calls.append(options)
        out = options.get("out")
        handed = [out] if isinstance(out, torch.Tensor) else out or [None] * len(tensors)
        given = [
            each if other is None else other for each, other in zip(tensors, handed, strict=True)
        ]
        return None if not given else given[0] if len(given) == 1 else tuple(given)


def _straight(monkeypatch: pytest.MonkeyPatch, calling: Calling, count: int) -> Any:
    """Returns the function of a model, and a count of the calls that `Calling` took."""
    judged = list[Any]()
    tensors = calling.tensors

    def counted(args: Any, kwargs: Any) -> Any:
        judged.append(args)
        return tensors(args, kwargs)

    monkeypatch.setattr(calling, "tensors", counted)
    return model_function(calling, cast(Any, _Program(count))), judged


def _has_nan(tree: Any) -> bool:
    return any(leaf != leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, float))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(_TREES, _TREES)
def test_straight_calls_take_and_give_the_same(tree: Any, other: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        calling = _calling((tree,), {}, tree, _same_again)
        count = sum(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(tree))
        call, judged = _straight(patch, calling, count)
        for _ in range(3):
            assert _same(call(tree), tree)
            assert _same(call(x=tree), tree)
        # The first call finds the classes; `Calling` takes every call with a constant such as nan.
        assert len(judged) <= (6 if _has_nan(tree) else 1)
        said = _refusal(calling, other)
        if said is not None:
            with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
                call(other)
        else:
            assert pytree.tree_structure(call(other)) == pytree.tree_structure(tree)


def _scaled(x: Any, factor: float = -0.0) -> None: ...


@pytest.mark.parametrize("traced", [0.0, -0.0])
def test_zeros_have_a_sign(monkeypatch: pytest.MonkeyPatch, traced: float) -> None:
    """A program that multiplies by -0.0 gives something else than by 0.0."""
    calling = _calling((_TENSOR, traced), {}, [_TENSOR, traced], _scaled)
    call, judged = _straight(monkeypatch, calling, 1)
    for _ in range(2):
        assert repr(call(_TENSOR, traced)[1]) == repr(traced)
        assert repr(call(_TENSOR, factor=traced)[1]) == repr(traced)
    assert not judged
    said = f"input 'factor' of main is {-traced}, and it was {traced} when it was compiled"
    for _ in range(2):
        with pytest.raises(InputError, match=f"^{re.escape(said)}"):
            call(_TENSOR, -traced)
    if str(traced) == "0.0":
        with pytest.raises(InputError, match=f"^{re.escape(said)}"):
            call(_TENSOR)
    else:
        assert call(_TENSOR)[0] is _TENSOR


def _refusal(calling: Calling, *args: Any, **kwargs: Any) -> str | None:
    try:
        calling.tensors(args, kwargs)
    except InputError as error:
        return str(error)
    return None


def _masked(x: Any, gain: float = 2.0, *rest: Any, mask: Any = None, **others: Any) -> None: ...


def _plain(x: Any, gain: float = 2.0, mask: Any = None) -> None: ...


@pytest.mark.parametrize("function", [_masked, _plain])
def test_straight_calls_of_parameters(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    a, b, c = (torch.full((1,), float(i)) for i in range(3))
    result = [_TENSOR, (_TENSOR, {"k": _TENSOR}), 5]
    calling = _calling((_TENSOR,), {"mask": _MASK}, result, function)
    call, judged = _straight(monkeypatch, calling, 3)
    wanted = [a, (b, {"k": c}), 5]
    assert _same(call(a, mask=[b, {"k": c}]), wanted)
    assert _same(call(a, 2.0, mask=[b, {"k": c}]), wanted)
    assert _same(call(gain=2.0, mask=[b, {"k": c}], x=a), wanted)
    assert judged == []
    for args, kwargs in [
        ((), {}),
        ((a,), {}),
        ((a, 3.0), {"mask": [b, {"k": c}]}),
        ((a, 2), {"mask": [b, {"k": c}]}),
        ((a,), {"x": a, "mask": [b, {"k": c}]}),
        ((a,), {"mask": [b, {"k": c, "l": c}]}),
        ((a,), {"mask": [b, {"l": c}]}),
        ((a,), {"mask": [b]}),
        ((a,), {"mask": [5, {"k": c}]}),
        ((a, 2.0, None, 1), {"mask": [b, {"k": c}]}),
        ((a,), {"mask": [b, {"k": c}], "other": a}),
    ]:
        said = _refusal(calling, *args, **kwargs)
        assert said is not None
        with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
            call(*args, **kwargs)


def test_straight_calls_with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, y = (torch.full((1,), float(i)) for i in range(3))
    calling = _calling(([_TENSOR, _TENSOR],), {}, {"u": _TENSOR, "v": [_TENSOR]}, _same_again)
    call, judged = _straight(monkeypatch, calling, 2)
    assert _same(call([a, b], out={"u": None, "v": [y]}), {"u": a, "v": [y]})
    assert _same(call([a, b], stream=7, out={"u": y, "v": [None]}), {"u": y, "v": [b]})
    assert _same(call([a, b], out=None, stream=None), {"u": a, "v": [b]})
    assert judged == []
    assert _same(call([a, b], out={"u": y, "v": None}), {"u": y, "v": [b]})
    assert len(judged) == 1
    with pytest.raises(InputError, match=r"'out\['v'\]' of main has 2 elements, not 1"):
        call([a, b], out={"u": y, "v": [y, y]})

    def taking(x: Any, out: Any) -> None: ...

    call, judged = _straight(monkeypatch, _calling((_TENSOR, _TENSOR), {}, _TENSOR, taking), 2)
    assert _same(call(a, out=b), a)
    assert judged == []


def test_straight_calls_look_at_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _calling((_TENSOR,), {}, {"y": _TENSOR}, _same_again)
    made = Calling(
        {
            "version": 1,
            "parameters": [{"name": "x", "kind": "POSITIONAL_OR_KEYWORD"}],
            "inputs": made.inputs,
            "outputs": {"list": [{"tensor": 0}, {"size": [0, 0]}]},
            "dims": {"batch": {"limits": [2, 4], "place": [0, 0]}},
        },
        "main",
    )
    call, judged = _straight(monkeypatch, made, 1)
    for size in (2, 4):
        assert call(torch.ones(size))[1] == size
    assert judged == []
    for size in (1, 5):
        with pytest.raises(InputError, match=f"the size 'batch' of main is {size}"):
            call(torch.ones(size))


def test_keys_may_come_in_any_order() -> None:
    one, two = np.zeros(1), np.zeros(2)
    calling = _calling(({"a": _TENSOR, "b": _TENSOR},), {}, 0, _same_again)
    found = calling.tensors(({"b": two, "a": one},), {})
    assert found[0] is one
    assert found[1] is two


_MASK = [_TENSOR, {"k": _TENSOR}]


def _forward(x: Any, gain: float = 2.0, *rest: Any, mask: Any = None, **others: Any) -> None: ...


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((_TENSOR, np.float64(3.0)), {}, "input 'gain' of main is np.float64.3.0., and it was 2.0"),
        ((_TENSOR, np.int64(2)), {}, "input 'gain' of main is np.int64.2., and it was 2.0"),
        ((), {}, "missing a required argument: 'x'"),
        ((_TENSOR, 3.0), {}, "input 'gain' of main is 3.0, and it was 2.0 when it was compiled"),
        ((_TENSOR, 2), {}, "input 'gain' of main is 2, and it was 2.0"),
        ((_TENSOR, 2.0, 1), {}, r"input 'rest' of main has 1 elements, not 0"),
        ((_TENSOR,), {"mask": [_TENSOR]}, r"'mask' of main has 1 elements, not 2"),
        ((_TENSOR,), {"mask": _TENSOR}, r"'mask' of main is of type Tensor, not a list of 2"),
        ((_TENSOR,), {"mask": [_TENSOR, {}]}, r"'mask\[1\]' of main has no 'k'"),
        ((_TENSOR,), {}, "'mask' of main is None, not a list of 2"),
        ((3,), {"mask": None}, "input 'x' of main is of type int, where .* a tensor"),
        (
            (_TENSOR,),
            {"mask": _MASK, "other": 1},
            "'others' of main has 'other', which was not there",
        ),
    ],
)
def test_wrong_calls(args: tuple[Any, ...], kwargs: dict[str, Any], said: str) -> None:
    calling = _calling((_TENSOR,), {"mask": _MASK}, 0, _forward)
    with pytest.raises(InputError, match=said):
        calling.tensors(args, kwargs)


def test_scalars_of_numpy_are_numbers() -> None:
    calling = _calling((_TENSOR, 2.0), {"mask": [True, {"k": 3}]}, 0, _forward)
    given = {"mask": [np.True_, {"k": np.int16(3)}]}
    assert calling.tensors((_TENSOR, np.float32(2)), given) == {0: _TENSOR}


def test_defaults_that_are_no_data() -> None:
    def forward(x: Any, weight: Any = _TENSOR, kind: Any = object) -> None: ...

    calling = _calling((_TENSOR, _TENSOR), {}, 0, forward)
    with pytest.raises(InputError, match="'weight' of main is missing: it is a tensor"):
        calling.tensors((_TENSOR,), {})
    with pytest.raises(InputError, match="'kind' of main was left to its default"):
        calling.tensors((_TENSOR, _TENSOR, int), {})
    assert list(calling.tensors((_TENSOR, _TENSOR), {})) == [0, 1]
    assert list(calling.signature.parameters) == list(inspect.signature(forward).parameters)


def test_types_that_cannot_be_imported() -> None:
    made = _calling((_TENSOR,), {}, Point(_TENSOR), _same_again)
    assert isinstance(made.result([1], []), Point)
    data = {"version": 1, "parameters": [], "inputs": {}, "dims": {}}
    node = {"dataclass": "hirc.nowhere:Point", "fields": []}
    with pytest.raises(InputError, match=r"type Point of module hirc.nowhere, .* be imported"):
        Calling({**data, "outputs": node}, "main").result([], [])
