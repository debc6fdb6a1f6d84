"""torch modules that write to computed places: of any sizes, of none, and where masks say."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch._higher_order_ops import while_loop
from torch.export import Dim

from hirc import compile as compile_model
from hirc.compiler.errors import HircError
from hirc.compiler.loader import load
from hirc.frontends.torch.import_model import ImportedModel, import_model
from hirc.tools.hirc import main as hirc

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("places")

_WIDTH = 3
Library = tuple[ImportedModel, Callable[..., tuple[Tensor, ...]]]


class _Places(nn.Module):
    """What is written to rows, columns and elements, and added to them."""

    def forward(
        self, x: Tensor, rows: Tensor, values: Tensor, places: Tensor
    ) -> tuple[Tensor, ...]:
        column = torch.tensor([-1, 0], device=x.device)
        written = x.clone()
        written[:, column] = values.sum()
        rows_apart = torch.arange(values.shape[0], device=x.device).flip(0)[:, None]
        filled = x.clone()
        filled[x > 0] = 7.0
        whole = (values * 8).round().long()
        return (
            x.index_put((rows,), values, accumulate=True),
            x.index_add(0, rows.remainder(x.shape[0]), values.to(torch.bfloat16).float()),
            x.to(torch.bfloat16).index_add(0, places[:, 0], values.to(torch.bfloat16)),
            x.scatter_add(0, places, values),
            x.scatter_reduce(0, places, values, "amax"),
            x.long().scatter_reduce(0, places, whole, "prod"),
            written,
            filled,
            x.index_copy(0, torch.arange(values.shape[0], device=x.device), values),
            # Places that differ: of several values for one it takes any.
            x.scatter(0, rows_apart + places * 0, values),
            x.nonzero(),
            x.masked_select(x > 0),
            torch.histc(x, 4, -2.0, 2.0),
        )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The compiled module, and what it is given besides its inputs."""
    folder = tmp_path_factory.mktemp("places")
    size, count = Dim("size", min=1, max=64), Dim("count", max=64)
    inputs = _inputs(4, 3, 0)
    shapes = ({0: size}, {0: count}, {0: count}, {0: count})
    imported = import_model(_Places(), inputs, dynamic_shapes=shapes)
    source, built = folder / "model.mlir", folder / "libmodel.so"
    source.write_text(imported.text)
    words = [str(source), "-o", str(built), "--emit=shared", "--offload-arch=cpu", "-O0"]
    assert hirc(words) == 0
    return imported, load(built).main


def _inputs(size: int, count: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(size, _WIDTH, generator=generator).round(decimals=1)
    values = torch.randn(count, _WIDTH, generator=generator)
    rows = torch.randint(-size, size, (count,), generator=generator)
    places = torch.randint(0, size, (count, _WIDTH), generator=generator)
    return x, rows, values, places


@settings(max_examples=12, deadline=None, derandomize=True)
@given(size=st.integers(1, 40), count=st.integers(0, 40), seed=st.integers(0, 99))
def test_places(library: Library, size: int, count: int, seed: int) -> None:
    inputs = _inputs(size, min(count, size), seed)
    imported, function = library
    found = function(
        *(
            inputs[each] if isinstance(each, int) else imported.weights[each]
            for each in imported.arguments
        )
    )
    wanted = _Places()(*inputs)
    assert len(found) == len(wanted)
    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        bound = 2**-5 if theirs.dtype == torch.bfloat16 else 1e-5
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), number
        assert torch.allclose(ours.double(), theirs.double(), bound, bound), number


def _reduced(x: Tensor, places: Tensor, rows: Tensor) -> list[Tensor]:
    """Reductions at places, in the ways that torch has for the element type."""
    source, kind = x.flip(0), x.dtype
    known = ["sum", "prod", "amax", "amin", *([] if kind is torch.bool else ["mean"])]
    both = [
        x.scatter_reduce(-2, places, source, each, include_self=with_x)
        for each in known
        for with_x in (True, False)
    ]
    by_rows = [x.index_reduce(0, rows, source, each) for each in known[-1:]]
    return [
        *(*both, *by_rows, x.scatter_add(0, places, source)),
        *(x.scatter(0, places, source, reduce="add"), x.scatter(0, places, 2, reduce="multiply")),
        *(x.index_add(0, rows, source), x.put(rows, source[:, 0], accumulate=True)),
        x[0, 0].scatter_reduce(0, places[0, 0] * 0, source[0, 0], "amax"),
        x[0, 0].scatter_add(0, places[0, 0] * 0, source[0, 0]),
        *(x[rows.int() - 4], x[rows.int(), rows.int() % 3]),
    ]


_KINDS = (torch.bool, torch.uint8, torch.int8, torch.int64, torch.bfloat16)


@pytest.mark.filterwarnings("ignore")
def test_reductions_at_places_of_all_types() -> None:
    generator = torch.Generator().manual_seed(1)
    wide = torch.randint(-90, 91, (6, 3), generator=generator)
    places = torch.randint(0, 4, (5, 2), generator=generator)
    rows = torch.tensor([1, 3, 1, 1, 0, 3])
    given = [
        wide > 20
        if kind is torch.bool
        else (wide / 16 if kind.is_floating_point else wide).to(kind)
        for kind in _KINDS
    ]

    def model(places: Tensor, rows: Tensor, *given: Tensor) -> list[Tensor]:
        return [each for x in given for each in _reduced(x, places, rows)]

    inputs = (places, rows, *given)
    found = compile_model(model, inputs, target="cpu", opt_level=0)(*inputs)
    for number, (ours, theirs) in enumerate(zip(found, model(*inputs), strict=True)):
        torch.testing.assert_close(
            ours, theirs, msg=lambda said, number=number: f"{number}: {said}"
        )


def _placed_in_order(x: Tensor, mask: Tensor, source: Tensor) -> tuple[Tensor, ...]:
    """As pictures take the places of tokens."""
    kept = source[source[:, 0] > 0]
    count: Any = kept.shape[0]
    is_wrong = operator.or_(operator.and_(count == 1, x.shape[1] == 5), count > 8)
    torch._check(torch.sym_not(is_wrong))  # pyright: ignore[reportPrivateUsage]
    half = source.to(torch.bfloat16)
    written = x.to(torch.bfloat16).masked_scatter_(mask[..., None].expand_as(x), half)
    return x[0].masked_scatter(mask[..., None], source), written, kept


def test_masks_pick_where_elements_go_in_order() -> None:
    rows, count = Dim("rows", max=9), Dim("count", min=0, max=9)
    x, mask = torch.randn(1, 5, _WIDTH), torch.tensor([[True, False, True, True, False]])
    source = torch.tensor([[1.0, 2, 3], [-4, 5, 6], [7, 8, 9]])
    compiled = compile_model(
        _placed_in_order,
        (x, mask, source),
        dynamic_shapes=({1: rows}, {1: rows}, {0: count}),
        target="cpu",
        opt_level=0,
    )
    more = torch.cat([source, source])
    empty = torch.randn(1, 2, _WIDTH), torch.tensor([[False, False]]), source[:0]
    for given_ in ((x, mask, source), (x[:, 1:], mask[:, 1:], more), empty):
        for found, wanted in zip(compiled(*given_), _placed_in_order(*given_), strict=True):
            assert found.equal(wanted)
    with pytest.raises(HircError, match=r"assertion failed for expression \w+ <= "):
        compiled(x, mask, source[::2].clone())
    with pytest.raises(HircError, match=r"assertion failed for expression .*Ne\(\w+, 1\)"):
        compiled(x, ~mask, source[:2])


def _written_behind(x: Tensor, mask: Tensor, parts: Tensor, column: Tensor) -> list[Tensor]:
    """What is written where a mask of later dims, or of the first, is true."""
    found: list[Tensor] = []
    for values in (x[:, mask] + 1, x[:, mask].relu(), column[:, None], column.sum()):
        y = x.clone()
        y[:, mask] = values
        found.append(y)
    deep = x[:, None].repeat(1, 2, 1)[..., None].repeat(1, 1, 1, 2)
    for index, many in (((slice(None), slice(None), mask), 3), ((slice(None), parts), 2)):
        y = deep.clone()
        y[index] *= many
        found.append(y)
    return [
        *found,
        x.index_put((mask[:3],), x[mask[:3]], accumulate=True),
        x.index_put((mask[:3],), column.sum(), accumulate=True),
    ]


def test_a_mask_of_later_dims() -> None:
    x, column = torch.randn(3, 5), torch.randn(3)
    mask, parts = torch.tensor([True, False, True, True, False]), torch.rand(2, 5) > 0.5
    net = compile_model(_written_behind, (x, mask, parts, column), target="cpu", opt_level=0)
    for some in (mask, ~mask, mask & False):
        given_ = x, some, parts, column
        torch.testing.assert_close(net(*given_), _written_behind(*given_))


def _placed_by_tensors(x: Tensor, k: Tensor, value: Tensor) -> list[Tensor]:
    found: list[Tensor] = []
    indices: list[Any] = [
        *(k, (k, 0), (0, k), (k, k), (k, slice(None), k), (slice(1, 3), k, None)),
        *((..., k), (1, ..., k), (0, k, 1)),
    ]
    for index in indices:
        for each in (2.0, value, x[0, 0, 0]):
            y = x.clone()
            y[index] = each
            found.append(y)
    y = x.clone()
    y[:, k] = x[:, 0] * 2
    y[k] += 3
    return [*found, y, x.index_put((k,), value), x.select_scatter(x[0], 0, 1)]


def test_a_tensor_without_dims_is_a_place() -> None:
    x, value = torch.randn(3, 4, 2), torch.randn(1)
    inputs = x, torch.tensor(1), value
    net = compile_model(_placed_by_tensors, inputs, target="cpu", opt_level=0, cache=False)
    for k in (1, 0):
        k = torch.tensor(k)
        torch.testing.assert_close(net(x, k, value), _placed_by_tensors(x, k, value))


def _beside_others(x: Tensor, k: Tensor) -> Tensor:
    y = x.clone()
    y[k, torch.tensor([0, 1])] = 1.0
    return y


def _in_a_loop(x: Tensor, k: Tensor) -> Any:
    def goes_on(k: Tensor, x: Tensor) -> Tensor:
        return k < 3

    def step(k: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        y = x.clone()
        y[k] = 1.0
        return k + 1, y

    return while_loop(goes_on, step, (k, x))


@pytest.mark.parametrize("model", [_beside_others, _in_a_loop])
def test_where_a_tensor_without_dims_is_no_place(model: Callable[..., Any]) -> None:
    with pytest.raises(HircError) as caught:
        import_model(model, (torch.randn(3, 4), torch.tensor(1)))
    assert "k[None]" in (caught.value.hint or "")
