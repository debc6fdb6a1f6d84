"""Outputs of a command: files that NumPy reads, and print."""

from __future__ import annotations

import numpy as np
import pytest

from support.program_command import ELEMENTS, Command


def test_outputs_and_inputs_are_written_in_order_and_by_name(add: Command, count: Command) -> None:
    add.succeeds(
        "--input=@iota", "--input=1", "--input=4", "--output=y.npy", "--output=twice=t.npy"
    )
    y, twice = np.load(add.folder / "y.npy"), np.load(add.folder / "t.npy")
    assert (y == np.arange(6, dtype=np.float32).reshape(2, 3) + 1).all()
    assert (y.dtype, y.flags.c_contiguous, twice.shape, int(twice)) == (np.float32, True, (), 8)
    # An input that the program writes to: what it holds afterwards.
    count.succeeds("--input=@iota", "--output=x=x.npy")
    assert np.load(count.folder / "x.npy").tolist() == [1, 2, 3, 4]


def test_nothing_is_printed_where_files_are_asked_for(add: Command) -> None:
    words = ["--input=@iota", "--input=1", "--input=4", "--output=y.npy"]
    assert add.succeeds(*words) == ""
    assert add.succeeds(*words, "--print").startswith("y: 2x3xf32\n")


def test_a_file_that_cannot_be_written_is_found_before_the_program_runs(add: Command) -> None:
    message = add.fails(
        1, "--input=@iota", "--input=1", "--input=4", "--output=/nowhere/y.npy", "--print"
    )
    assert message == "cannot write /nowhere/y.npy: No such file or directory"


def _printed(elements: Command, name: str, text: str) -> str:
    inputs = [f"--input={n}=" + (text if n == name else f"0x{n}=@iota") for n in ELEMENTS]
    after = elements.succeeds(*inputs).partition(f"out_{name}: ")[2]
    return after.partition("\nout_")[0].rstrip("\n")


@pytest.mark.parametrize(
    ("name", "text", "printed"),
    [
        ("f32", "5xf32=0.1,-1e30,nan,-inf,100", "5xf32\n[   0.1 -1e+30    nan   -inf   100.]"),
        (
            "f64",
            "2xf64=0.1,0.30000000000000004",
            "2xf64\n[                0.1 0.30000000000000004]",
        ),
        ("f16", "2xf16=0.1,0.3333", "2xf16\n[   0.1 0.3333]"),
        ("bf16", "2xbf16=0.1,3.14", "2xbf16\n[ 0.1 3.14]"),
        ("i8", "3xi8=-128,0,127", "3xi8\n[-128    0  127]"),
        ("ui64", "1xui64=18446744073709551615", "1xui64\n[18446744073709551615]"),
        ("i1", "2xi1=true,0", "2xi1\n[ true false]"),
        ("complex<f32>", "1xcomplex<f32>=0.5", "1xcomplex<f32>\n[0.5+0.j]"),
        ("i32", "0xi32=@iota", "0xi32\n[]"),
    ],
)
def test_numbers_print_with_the_fewest_digits(
    elements: Command, name: str, text: str, printed: str
) -> None:
    assert _printed(elements, name, text) == printed


def test_of_many_elements_the_ends_are_printed(elements: Command) -> None:
    assert _printed(elements, "i16", "1001xi16=@iota") == (
        "1001xi16\n[   0    1    2 ...  998  999 1000]"
    )
    lines = _printed(elements, "i16", "1000xi16=@iota").splitlines()
    assert "..." not in "".join(lines)
    assert max(map(len, lines)) <= 100
