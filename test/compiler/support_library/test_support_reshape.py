"""Strides of a view with other sizes, compared with torch's views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from conftest import Library

_SIZES = st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=4)


@st.composite
def _views(draw: st.DrawFn) -> tuple[torch.Tensor, list[int]]:
    """A view, and sizes with as many elements as it has."""
    sizes = draw(_SIZES)
    whole = torch.zeros([draw(st.sampled_from([size, size + 1])) for size in sizes])
    view = whole[tuple(slice(0, size) for size in sizes)]
    view = view.permute(draw(st.permutations(range(len(sizes)))))
    if draw(st.booleans()):
        view = view[None].expand(draw(st.integers(1, 3)), *view.shape)
    rest, new = view.numel(), list[int]()
    while rest > 1 and len(new) < 4:
        new.append(draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0])))
        rest //= new[-1]
    return view, [*new, rest]


@settings(max_examples=300, deadline=None)
@given(case=_views())
def test_strides_are_torchs(library: Library, case: tuple[torch.Tensor, list[int]]) -> None:
    view, sizes = case
    try:
        expected = view.view(sizes)
    except RuntimeError:
        return  # refused: see below
    found = library.integers(*[-7] * len(sizes))
    library.loaded.hirc_reshape_strides(
        library.integers(view.ndim)[0],
        library.integers(*view.shape),
        library.integers(*view.stride()),
        len(sizes),
        library.integers(*sizes),
        found,
        b"",
    )
    for size, stride, wanted in zip(sizes, found, expected.stride(), strict=True):
        assert size == 1 or stride == wanted, (view.shape, view.stride(), sizes)


def _refusal(library: Library, view: torch.Tensor, sizes: list[int]) -> str:
    def array(numbers: list[int]) -> str:
        return f"(c.c_int64 * {len(numbers)})(*{numbers})"

    arguments = [
        str(view.ndim),
        array(list(view.shape)),
        array(list(view.stride())),
        str(len(sizes)),
        array(sizes),
        array(sizes),
        "b'p.mlir:1:2'",
    ]
    done = library.run(f"lib.hirc_reshape_strides({', '.join(arguments)})")
    assert done.returncode in (0, 1)
    return done.stderr


def test_what_torch_refuses_is_refused(library: Library) -> None:
    whole = torch.zeros(4, 6)
    for view, sizes in [(whole.T, [24]), (whole[:, :5], [2, 10]), (whole[:, ::2].T, [2, 6])]:
        try:
            view.view(sizes)
            raise AssertionError("torch takes it")
        except RuntimeError:
            message = _refusal(library, view, sizes)
        assert message.startswith("p.mlir:1:2: error: hir.reshape: the strides allow no view")
        assert "for dim 0 does not lie packed" in message
        assert "hir.set makes a packed copy" in message


def test_no_elements_are_packed(library: Library) -> None:
    found = library.integers(0, 0, 0)
    library.loaded.hirc_reshape_strides(
        2, library.integers(0, 5), library.integers(9, 7), 3, library.integers(3, 0, 4), found, b""
    )
    assert list(found) == [4, 4, 1]
