"""The numbers that text, @iota and @random stand for, and how they round."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from support.program_command import ELEMENTS, Command

_NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32,
    "i16": np.int16, "i8": np.int8, "ui64": np.uint64, "ui32": np.uint32, "ui16": np.uint16,
    "ui8": np.uint8,
}  # fmt: skip


def _outputs(elements: Command, text: str, names: list[str]) -> dict[str, np.ndarray]:
    """What inputs of these types hold that are all given as `text`, the others empty."""
    inputs = [
        f"--input={n}=" + (text.format(n) if n in names else f"0x{n}=@iota") for n in ELEMENTS
    ]
    outputs = [f"--output=out_{name}=o_{name}.npy" for name in names]
    elements.succeeds(*inputs, *outputs)
    return {name: np.load(elements.folder / f"o_{name}.npy") for name in names}


def _splitmix(seed: int, count: int) -> np.ndarray:
    """SplitMix64's numbers from a seed."""
    with np.errstate(over="ignore"):
        bits = np.uint64(seed) + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def test_iota_counts_and_wraps_around(elements: Command) -> None:
    for name, found in _outputs(elements, "300x{}=@iota", list(_NUMPY)).items():
        assert (found == np.arange(300).astype(_NUMPY[name])).all(), name


def test_random_numbers_depend_on_seed_and_place_alone(elements: Command) -> None:
    bits = _splitmix(7, 50)
    reals = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1
    whole = (bits >> np.uint64(60)).astype(np.int64)
    for name, found in _outputs(elements, "50x{}=@random:7", list(_NUMPY)).items():
        kind = np.dtype(_NUMPY[name]).kind
        wanted = {"f": reals, "i": whole - 8, "u": whole}[kind].astype(_NUMPY[name])
        assert (found == wanted).all(), name


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("f16", torch.float16), ("bf16", torch.bfloat16), ("f8E5M2", torch.float8_e5m2)],
)
def test_text_rounds_to_the_nearest_number(
    elements: Command, name: str, dtype: torch.dtype
) -> None:
    random = np.random.default_rng(3)
    numbers = [*(random.normal(size=300) * 10.0 ** random.integers(-9, 7, 300)), 0.0, -0.0]
    numbers += [65519.9, 65520.0, 2.0**-25, 1.5 * 2.0**-25, 1 + 2.0**-11, 1 + 3 * 2.0**-11]
    numbers += [float("inf"), -float("inf")]
    text = f"{len(numbers)}x{name}=" + ",".join(map(repr, map(float, numbers)))
    found = _outputs(elements, text.replace("{", "{{"), [name])[name]
    wanted = torch.tensor(numbers, dtype=torch.float64).to(dtype)
    assert found.tobytes() == wanted.view(torch.uint8).numpy().tobytes()


def test_f8e4m3fn_has_a_nan_beyond_its_range_and_tf32_ten_bits(elements: Command) -> None:
    found = _outputs(elements, "5x{}=448,464,464.1,-1e9,nan", ["f8E4M3FN"])["f8E4M3FN"]
    assert found.tobytes() == bytes([0x7E, 0x7E, 0x7F, 0xFF, 0x7F])
    ties = _outputs(elements, "3x{}=1.00048828125,-1.00048828125,1.0004", ["tf32"])["tf32"]
    assert ties.tolist() == [1.0009765625, -1.0009765625, 1.0]
