"""Regions of the same code are one function, and those that only look it are not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from hirc.compiler.cpu_device.retarget import RetargetOptions, retarget
from hirc.compiler.ir_text import IrText
from support.cpu_kernels import Launch, nvvm_ir, optimized

from .building import KERNELS, Build, zeros

_GIVEN: NDArray[np.int32] = np.arange(7, 135, dtype=np.int32) * 5 % 97


def _kept(change: int = 0, type_: type = np.int32) -> NDArray[np.int32]:
    a, b = _GIVEN[:64].astype(type_), _GIVEN[64:].astype(type_)
    return (_GIVEN[63::-1] + a.astype(np.int32) - b.astype(np.int32) + change).astype(np.int32)


def _parts(given: NDArray[np.int32]) -> NDArray[np.int32]:
    sign = 1 if given[3] else -1
    return sign * (given[:32] + given[1:33])


def test_what_they_compute(build: Build) -> None:
    kept = ("one", "same", "other_places", "swapped", "other_type", "other_number")
    launches = [Launch(name, [zeros(64), _GIVEN], block=(32, 2, 1)) for name in kept]
    launches.append(Launch("parameters", [_GIVEN, zeros(64)], block=(32, 2, 1)))
    launches += [Launch("along_x", [zeros(4)], block=(4, 1, 1))]
    launches += [Launch("along_y", [zeros(4)], block=(1, 4, 1))]
    closed = _GIVEN.copy()
    closed[3] = 0
    launches += [Launch("parts", [zeros(32), given]) for given in (_GIVEN, closed)]
    launches += [Launch("parts_again", [zeros(32), given]) for given in (_GIVEN, closed)]
    launches += [Launch("steps", [zeros(8)], block=(8, 1, 1))]
    found = build("equal_regions.c").run(*launches)
    a, b = _GIVEN[:64], _GIVEN[64:]
    expected = [_kept(), _kept(), _kept(int(_GIVEN[5])), _GIVEN[63::-1] + b - a]
    expected += [_kept(type_=np.uint8), _kept(1)]
    for name, (output, _), right in zip(kept, found[:6], expected, strict=True):
        np.testing.assert_array_equal(output, right, name)
    np.testing.assert_array_equal(found[6][1], _kept())
    assert found[7][0].tolist() == found[8][0].tolist() == [0, 1, 2, 3]
    for given, (output, _) in zip((_GIVEN, closed), found[9:11], strict=True):
        np.testing.assert_array_equal(output, _parts(given))
    for given, (output, _) in zip((_GIVEN, closed), found[11:13], strict=True):
        np.testing.assert_array_equal(output, _parts(given) + 3 * given[:32])
    assert found[13][0].tolist() == [10] * 8


@pytest.fixture(scope="module")
def code() -> str:
    source = (KERNELS / "equal_regions.c").read_text()
    return retarget(IrText.of(optimized(nvvm_ir(source))), (), RetargetOptions())


def _function_of(code: str, region: str) -> str:
    """The function that has a region's code."""
    name = re.escape(region)
    definition = rf"^define internal i32 @{name}\([^{{]*\{{\n"
    found = re.search(rf"{definition}  %state = tail call i32 @([\w.]+)", code, re.MULTILINE)
    return found[1] if found else region


@pytest.mark.parametrize("state", [1, 2, 3])
@pytest.mark.parametrize("other", ["same", "other_places"])
def test_equal_ones_are_shared(code: str, other: str, state: int) -> None:
    same = _function_of(code, f"one.region{state}") == _function_of(code, f"{other}.region{state}")
    # Another number is added there.
    assert same == ((other, state) != ("other_places", 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("one.region3", "other_type.region3"),
        ("one.region1", "other_number.region1"),
        ("one.region2", "parameters.region2"),
        ("along_x.region1", "along_y.region1"),
    ],
)
def test_others_are_not(code: str, one: str, other: str) -> None:
    assert _function_of(code, one) != _function_of(code, other)


@pytest.mark.parametrize(
    ("one", "other", "given"),
    [
        ("parts.region0", "parts_again.region0", {"i64 0", "i64 4"}),
        ("steps.region1", "steps.region3", {"i32 2", "i32 3", "i32 4"}),
    ],
)
def test_what_differs_is_given(code: str, one: str, other: str, given: set[str]) -> None:
    name = _function_of(code, one)
    assert _function_of(code, other) == name
    assert set(re.findall(rf"call i32 @{re.escape(name)}\(.*?, i32 %last, (.*)\)", code)) == given
