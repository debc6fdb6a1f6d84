"""A program of so many outputs that their memory is not compared pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from hirc.compiler.errors import InputError
from hirc.compiler.loader import Library, load
from hirc.tools.bench_scale_programs import outputs
from support.program_command import build

_COUNT = 40


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = tmp_path_factory.mktemp("many") / "many.so"
    return load(build(outputs(_COUNT), path, "--emit=shared", "-O1"))


def _rows(count: int) -> list[np.ndarray]:
    """Tensors that lie one after another in one allocation."""
    memory = np.zeros((count, 64, 64), np.float32)
    return [memory[place] for place in range(count)]


def test_neighbours_do_not_overlap(library: Library) -> None:
    x, *given = _rows(_COUNT + 1)
    library.main(x, out={f"output{place}": each for place, each in enumerate(given)})
    for place, each in enumerate(given):
        expected = np.zeros_like(x)
        with np.errstate(over="ignore"):
            for _ in range(place + 1):
                expected = np.exp(expected)
        np.testing.assert_allclose(each, expected, rtol=1e-4)


@pytest.mark.parametrize("place", [0, _COUNT - 1])
def test_an_output_in_the_input_is_refused(library: Library, place: int) -> None:
    memory = np.zeros((65, 64), np.float32)
    with pytest.raises(InputError, match=f"output 'output{place}' of main: its memory overlaps"):
        library.main(memory[:64], out={f"output{place}": memory[1:]})
    with pytest.raises(InputError, match=f"output 'output{place}' of main: its memory overlaps"):
        library.main(memory[1:], out={f"output{place}": memory[:64]})


def test_an_output_in_another_is_refused(library: Library) -> None:
    x, *given = _rows(_COUNT + 1)
    given[7] = given[12]
    with pytest.raises(InputError, match="output 'output12' of main: its memory overlaps that of"):
        library.main(x, out={f"output{place}": each for place, each in enumerate(given)})


def test_what_is_wrong_with_a_tensor_comes_first(library: Library) -> None:
    x, *given = _rows(_COUNT + 1)
    given[18] = np.zeros((64, 63), np.float32)
    with pytest.raises(InputError, match="'output18' of main: size 1 is 63"):
        library.main(x, out={f"output{place}": each for place, each in enumerate(given)})
