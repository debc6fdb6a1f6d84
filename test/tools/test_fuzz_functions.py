"""Random functions on tensors: a fixed few of them, and what the tool notices."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from hirc.tools.fuzz_functions.__main__ import main
from hirc.tools.fuzz_functions.child import compare
from hirc.tools.fuzz_functions.draw import draw
from hirc.tools.fuzz_functions.floats import draw_float
from hirc.tools.fuzz_functions.numbers import (
    F16,
    F32,
    I8,
    Numbers,
    exact,
    known,
    mismatches,
    round_to,
    settle,
)
from hirc.tools.fuzz_functions.operation import Operation


def test_a_few_functions_give_what_numpy_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--first", "300", "--count", "16", "--keep", str(tmp_path), "--", "-O0"]) == 0
    assert capsys.readouterr().out.startswith("16 functions: 16 right; ")


def test_a_seed_is_always_the_same_function() -> None:
    assert draw(7).text("f") == draw(7).text("f")
    assert draw(7).text("f") != draw(8).text("f")


def test_a_wrong_element_is_noticed() -> None:
    noticed = 0
    for seed in range(20):
        function = draw(seed)
        values = function.evaluate()
        given = [np.array(values[output.name].value) for output in function.outputs]
        assert "wrong" not in compare(function, given)
        output = function.outputs[0]
        changed = given[0] ^ 1 if not output.element.is_float else given[0] * 1.5 + 1
        noticed += "wrong" in compare(function, [changed, *given[1:]])
    assert noticed > 10


def test_what_is_compared_has_bounds() -> None:
    with np.errstate(over="ignore"):
        third = settle(F32, np.array([1 / 3]), np.zeros(1), np.array([True]), 1.0)
        assert not mismatches(F32, third, np.array([1 / 3], np.float32).astype(np.float64))[0]
        assert mismatches(F32, third, np.array([1 / 3 + 1e-6]))[0]
        assert mismatches(F32, third, np.array([np.nan]))[0]
        # An f16 that is too large may have been kept as f32 by a fused operation.
        large = settle(F16, np.array([1e5]), np.zeros(1), np.array([True]), 1.0)
        assert not mismatches(F16, large, np.array([3.0]))[0]
        assert round_to(F16, np.array([1e5]))[0] == np.inf
    assert mismatches(I8, exact(np.array([3], np.int8)), np.array([4], np.int8))[0]


def test_the_sign_of_a_nan_is_not_defined() -> None:
    copied = _drawn("math.copysign").step(
        [exact(np.array([2.0, 2.0, np.nan])), exact(np.array([np.nan, -1.0, np.nan]))]
    )
    assert known(copied).tolist() == [False, True, True]
    assert copied.value[1] == -2
    negative = _drawn("arith.negf").step([exact(np.array([np.nan]))])
    assert known(negative)[0]
    assert mismatches(F32, negative, np.array([1.0]))[0]


def test_numbers_that_may_be_equal_decide_nothing() -> None:
    one, other = np.array([1.0, 1.0, 3.0]), np.array([-1.0, -1.0, 1.0])
    given = [Numbers(one, np.array([1.02, 0.5, 1.5])), Numbers(other, np.array([1.0, 0.5, 1.0]))]
    assert known(_drawn("arith.cmpf une").step(given)).tolist() == [False, True, False]


def _drawn(name: str) -> Operation:
    random = Random(1)
    while not (operation := draw_float(random, F32)).text.startswith(name):
        pass
    return operation
