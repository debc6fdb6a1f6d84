"""Matrix products: calls of a cuBLASLt that multiplies on the host, over operands of any layout."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from conftest import Library

_FAKE = Path(__file__).parents[2] / "support" / "fake_cublaslt.c"
_FIRST, _SECOND, _RESULT, _BIAS, _ADDEND = 1, 2, 4, 8, 16
_OPERANDS = 5
_KINDS = {"b": 7, "m": _FIRST | _RESULT, "n": _SECOND | _RESULT, "k": _FIRST | _SECOND}
_NO_ACTIVATION, _RELU, _GELU = range(3)
_TYPES = {"f4": (0, 68), "f8": (1, 70), "f2": (2, 68)}
_MEBIBYTE = 1 << 20


@dataclass
class Loop:
    """A loop of a product: of what kind it is, and its size."""

    kind: str
    size: int


@dataclass
class Fake:
    """The cuBLASLt without a device, and the support library that calls it."""

    path: Path
    library: ctypes.CDLL
    support: ctypes.CDLL

    def log(self, call: Callable[[], object]) -> list[str]:
        """The library's calls that `call` makes."""
        self.library.fake_library_reset()
        call()
        return self.library.fake_library_log().decode().splitlines()

    def set(self, name: str, value: int) -> None:
        ctypes.c_int.in_dll(self.library, name).value = value


class Site:
    """A place in a program that multiplies."""

    def __init__(
        self,
        kinds: Sequence[int],
        element: str = "f4",
        result: str = "",
        *,
        activation: int = _NO_ACTIVATION,
        has_bias: bool = False,
        has_addend: bool = False,
    ) -> None:
        code, compute = _TYPES[element]
        to = _TYPES[result or element][0]
        words = [code, to, compute, activation, int(has_bias), int(has_addend), len(kinds)]
        if has_addend:
            kinds = [kind | _ADDEND * (kind & _RESULT != 0) for kind in kinds]
        self.kinds = list(kinds)
        self.words = (ctypes.c_int64 * (len(words) + len(kinds)))(*words, *kinds)
        self.cache = (ctypes.c_int64 * 8)()


@pytest.fixture(scope="module")
def fake(library: Library) -> Generator[Fake, None, None]:
    path = library.folder / "libcublasLt.so"
    library.clang("-shared", _FAKE, "-o", path)
    loaded = ctypes.CDLL(str(path))
    loaded.fake_library_log.restype = ctypes.c_char_p
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HIRC_CUBLASLT", str(path))
        yield Fake(path, loaded, library.loaded)


def multiply(
    fake: Fake,
    site: Site,
    loops: Sequence[Loop],
    operands: Sequence[np.ndarray | None],
    axes: Sequence[Sequence[int]],
    stream: int = 0,
) -> None:
    """Calls the support library; axes are the loops of each operand's dims."""
    extents: list[int] = []
    for number, loop in enumerate(loops):
        extents.append(loop.size)
        for place in range(_OPERANDS):
            own = list(axes[place]) if place < len(axes) else []
            operand = operands[place] if number in own else None
            stride = 0 if operand is None else operand.strides[own.index(number)]
            extents.append(0 if operand is None else stride // operand.itemsize)
    addresses = [None if each is None else each.ctypes.data for each in operands]
    pointers = [ctypes.c_void_p(each) for each in addresses]
    pointers += [ctypes.c_void_p(None)] * (_OPERANDS - len(pointers))
    fake.support.hirc_matmul(
        site.words,
        site.cache,
        (ctypes.c_int64 * len(extents))(*extents),
        *pointers,
        ctypes.c_void_p(stream),
        b"p.mlir:1:2",
    )


def plain(
    fake: Fake,
    site: Site,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    addend: np.ndarray | None = None,
) -> None:
    """z = x times y, and an addend."""
    loops = [Loop("m", x.shape[0]), Loop("n", y.shape[1]), Loop("k", x.shape[1])]
    operands = [x, y, z, None, addend]
    multiply(fake, site, loops, operands, [(0, 2), (2, 1), (0, 1), (), (0, 1)])


def plain_site(*, has_addend: bool = False) -> Site:
    return Site([_KINDS[kind] for kind in "mnk"], has_addend=has_addend)


def numbers(*shape: int, seed: int = 0, kind: str = "f4") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


@st.composite
def laid_out(
    draw: st.DrawFn, sizes: Sequence[int], *, repeats: bool, order: Sequence[int] = ()
) -> np.ndarray:
    """Zeros of those sizes, with dims in any order in memory, gaps, and repeated dims."""
    order = order or draw(st.permutations(range(len(sizes))))
    steps = [draw(st.sampled_from([1, 1, 1, 2])) for _ in sizes]
    pads = [draw(st.sampled_from([0, 0, 1, 3])) for _ in sizes]
    if not sizes:
        return np.zeros((), "f4")
    memory = np.zeros([(sizes[dim] + pads[dim]) * steps[dim] for dim in order], "f4")
    cut = memory[tuple(slice(0, sizes[dim] * steps[dim], steps[dim]) for dim in order)]
    view = cut.transpose(np.argsort(order))
    if repeats and draw(st.integers(0, 5)) == 0:
        place = draw(st.integers(0, len(sizes) - 1))
        view = np.broadcast_to(np.take(view, [0], place), sizes)
    return view


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_any_layout(fake: Fake, data: st.DataObject) -> None:
    kinds = [kind for kind in "bmnk" for _ in range(data.draw(st.integers(0, 2)))]
    kinds = data.draw(st.permutations(kinds))
    loops = [Loop(kind, data.draw(st.sampled_from([1, 2, 3, 5]))) for kind in kinds]
    axes: list[list[int]] = []
    operands: list[np.ndarray] = []
    for bit in (_FIRST, _SECOND, _RESULT):
        own = [number for number, loop in enumerate(loops) if _KINDS[loop.kind] & bit]
        own = data.draw(st.permutations(own))
        sizes = [loops[number].size for number in own]
        view = data.draw(laid_out(sizes, repeats=bit != _RESULT))
        if bit != _RESULT and view.flags.writeable:
            view[...] = numbers(*sizes, seed=bit)
        axes.append(list(own))
        operands.append(view)
    result = operands[2]
    result[...] = 7
    # What is added may be the result, or lie as it does in memory, but for gaps.
    adds = data.draw(st.sampled_from(["", "result", "other"]))
    addend = result if adds == "result" else None
    if adds == "other":
        order = np.argsort([-stride for stride in result.strides], kind="stable").tolist()
        addend = data.draw(laid_out(result.shape, repeats=False, order=order))
        addend[...] = numbers(*result.shape, seed=9)
    letters = "".join(chr(ord("a") + number) for number in range(len(loops)))
    texts = ["".join(letters[number] for number in own) for own in axes]
    wanted = np.einsum(
        f"{texts[0]},{texts[1]}->{texts[2]}",
        operands[0].astype("f8"),
        operands[1].astype("f8"),
    ) + (0 if addend is None else addend.copy())
    site = Site([_KINDS[loop.kind] for loop in loops], has_addend=addend is not None)
    multiply(fake, site, loops, [*operands, None, addend], [*axes, [], axes[2]])
    np.testing.assert_allclose(operands[2], wanted, rtol=3e-6, atol=3e-6)


@pytest.mark.parametrize(
    ("texts", "call"),
    [
        # Row-major operands, one of them or the result transposed.
        (("mk", "kn", "mn"), "NN 1x 5x3x7 ld 5 7 5"),
        (("km", "kn", "mn"), "NT 1x 5x3x7 ld 5 3 5"),
        (("mk", "nk", "mn"), "TN 1x 5x3x7 ld 7 7 5"),
        (("mk", "kn", "nm"), "TT 1x 3x5x7 ld 7 5 3"),
        # Batches: of the library, and of an operand that all of them share, which are more rows.
        (("bmk", "bkn", "bmn"), "NN 2x 5x3x7 ld 5 7 5"),
        (("bmk", "kn", "bmn"), "NN 1x 5x6x7 ld 5 7 5"),
        (("mbk", "bkn", "mbn"), "NN 2x 5x3x7 ld 5 14 10"),
    ],
)
def test_one_call_of_the_library(fake: Fake, texts: tuple[str, str, str], call: str) -> None:
    sizes = {"b": 2, "m": 3, "n": 5, "k": 7}
    letters = sorted(set("".join(texts)))
    kinds = {
        letter: sum(1 << place for place, text in enumerate(texts) if letter in text)
        for letter in letters
    }
    operands = [
        numbers(*(sizes[letter] for letter in text), seed=place) for place, text in enumerate(texts)
    ]
    loops = [Loop(letter, sizes[letter]) for letter in letters]
    axes = [[letters.index(letter) for letter in text] for text in texts]
    site = Site([kinds[letter] for letter in letters])
    log = fake.log(lambda: multiply(fake, site, loops, operands, axes))
    calls = [line for line in log if line.startswith("cublasLtMatmul ")]
    assert calls == [f"cublasLtMatmul {call} beta 0 epilogue 1"]
    wanted = np.einsum(f"{texts[0]},{texts[1]}->{texts[2]}", *operands[:2])
    np.testing.assert_allclose(operands[2], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activation", [_NO_ACTIVATION, _RELU, _GELU])
@pytest.mark.parametrize("rows", [0, 1, 4])
@pytest.mark.parametrize("inner", [0, 1, 3])
def test_bias_and_activation(fake: Fake, activation: int, rows: int, inner: int) -> None:
    x, y, bias = numbers(rows, inner), numbers(inner, 5, seed=1), numbers(5, seed=2)
    z = np.full((rows, 5), np.nan, "f4")
    kinds = [_KINDS["m"], _KINDS["n"] | _BIAS, _KINDS["k"]]
    site = Site(kinds, activation=activation, has_bias=True)
    loops = [Loop("m", rows), Loop("n", 5), Loop("k", inner)]
    for _ in range(2):
        multiply(fake, site, loops, [x, y, z, bias], [(0, 2), (2, 1), (0, 1), (1,)])
        sums = x.astype("f8") @ y + bias
        inside = np.sqrt(2 / np.pi) * (sums + 0.044715 * sums**3)
        wanted = [sums, np.maximum(sums, 0), 0.5 * sums * (1 + np.tanh(inside))][activation]
        np.testing.assert_allclose(z, wanted, rtol=1e-5, atol=1e-6)
        # The same plan is used, with another bias.
        bias = bias + 1


def test_empty_products_do_not_call_the_library(fake: Fake) -> None:
    z = np.full((3, 4), 9, "f4")
    log = fake.log(
        lambda: [
            plain(fake, plain_site(), numbers(0, 4), numbers(4, 5), np.empty((0, 5), "f4")),
            plain(fake, plain_site(), numbers(3, 0), numbers(0, 4), z),
        ]
    )
    assert log == []
    assert (z == 0).all()


def test_an_empty_product_gives_what_is_added(fake: Fake) -> None:
    x, y, z = numbers(3, 0), numbers(0, 4), np.full((3, 4), 9, "f4")
    plain(fake, plain_site(has_addend=True), x, y, z, z)
    assert (z == 9).all()
    added = numbers(3, 8)[:, :4]
    plain(fake, plain_site(has_addend=True), x, y, z, added)
    assert (z == added).all()


def heuristics(log: Sequence[str]) -> int:
    return sum("Heuristic" in line for line in log)


def test_known_sizes_ask_for_no_algorithm(fake: Fake) -> None:
    site = plain_site()
    shapes = [(2, 3, 4), (5, 3, 4), (2, 3, 9)]
    operands = [(numbers(m, k), numbers(k, n), np.empty((m, n), "f4")) for m, n, k in shapes]
    first = fake.log(lambda: [plain(fake, site, *each) for each in operands])
    again = fake.log(lambda: [plain(fake, site, *each) for each in operands * 3])
    assert heuristics(first) == 3
    assert heuristics(again) == 0
    assert len(again) == 9


def test_plans_of_many_sizes_are_given_back(fake: Fake) -> None:
    alive = ctypes.c_int.in_dll(fake.library, "fake_library_alive")
    site, before = plain_site(), alive.value
    for size in range(1, 40):
        x, y, z = numbers(size, 3), numbers(3, 4), np.empty((size, 4), "f4")
        plain(fake, site, x, y, z)
        np.testing.assert_allclose(z, x @ y, rtol=1e-5, atol=1e-6)
    assert alive.value - before <= 7 * 4


def test_less_aligned_operands_are_known_to_be(fake: Fake) -> None:
    memory = np.zeros(4096, "f4")
    start = -memory.ctypes.data // 4 % 64
    aligned, odd = memory[start : start + 1024], memory[start + 1 : start + 1025]
    site = plain_site()
    y, z = numbers(16, 16), np.empty((16, 16), "f4")
    log = fake.log(
        lambda: [
            plain(fake, site, each[:256].reshape(16, 16), y, z) for each in (aligned, odd, aligned)
        ]
    )
    chosen = [line.split()[3] for line in log if "Heuristic" in line]
    assert chosen == ["256", "4"]


def test_threads_share_a_site(fake: Fake) -> None:
    site, wrong = plain_site(), list[int]()

    def work(seed: int) -> None:
        for turn in range(100):
            size = 1 + (turn + seed) % 9
            x, y = numbers(size, 3, seed=seed), numbers(3, 4, seed=turn)
            z = np.empty((size, 4), "f4")
            plain(fake, site, x, y, z)
            if not np.allclose(z, x @ y, rtol=1e-5, atol=1e-5):
                wrong.append(size)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.fixture
def needs_workspace(fake: Fake, library: Library) -> Generator[None, None, None]:
    size = ctypes.c_size_t.in_dll(fake.library, "fake_library_workspace")
    size.value = 3000
    yield
    size.value = 0
    ctypes.c_int.in_dll(library.loaded, "fake_capturing").value = 0


def test_a_stream_has_one_workspace(fake: Fake, library: Library, needs_workspace: None) -> None:
    site = plain_site()
    operands = numbers(2, 3), numbers(3, 4), np.empty((2, 4), "f4")
    calls = library.calls(lambda: [plain(fake, site, *operands) for _ in range(3)])
    allocations = [line for line in calls if "Malloc" in line or "Free" in line]
    assert allocations == [f"cudaMallocAsync {32 * _MEBIBYTE} in -1"]
    np.testing.assert_allclose(operands[2], operands[0] @ operands[1], rtol=1e-5)


def test_a_captured_product_has_its_own_workspace(
    fake: Fake, library: Library, needs_workspace: None
) -> None:
    site = plain_site()
    operands = numbers(2, 3), numbers(3, 4), np.empty((2, 4), "f4")
    library.loaded.hirc_stream_acquire.restype = ctypes.c_void_p
    stream = library.loaded.hirc_stream_acquire(b"")
    ctypes.c_int.in_dll(library.loaded, "fake_capturing").value = 1
    loops = [Loop("m", 2), Loop("n", 4), Loop("k", 3)]
    calls = library.calls(
        lambda: multiply(fake, site, loops, operands, [(0, 2), (2, 1), (0, 1)], stream)
    )
    kinds = [line.split()[0] for line in calls if "Malloc" in line or "Free" in line]
    assert kinds == ["cudaMallocAsync", "cudaFreeAsync"]
