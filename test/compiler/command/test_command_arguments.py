"""A command's arguments: by order and by name, and what is wrong with them."""

from __future__ import annotations

import pytest

from support.program_command import Command


def test_help_lists_inputs_and_outputs_with_their_types(add: Command) -> None:
    text = add.succeeds("--help")
    assert "inputs:\n  x  2x3xf32\n  s  f32\n  n  i64\n" in text
    assert "outputs:\n  y      2x3xf32\n  twice  i64\n" in text


def test_inputs_come_in_order_and_by_name(add: Command) -> None:
    expected = "y: 2x3xf32\n[[1.5 1.5 1.5]\n [1.5 1.5 1.5]]\ntwice: i64 6\n"
    assert add.succeeds("--input=1", "--input=0.5", "--input=3") == expected
    assert add.succeeds("--input=n=3", "--input", "1", "--input=0.5", "--print") == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--input=1", "--input=2"], "input 'n' (i64) is missing: --input=n=..."),
        (["--input=1"] * 4, "main takes 3 inputs, and there is one more: 1"),
        (["--input=1", "--input=x=2"], "input 'x' is given twice: 1 and 2"),
        (["--output=a.npy"] * 3, "main has 2 outputs, and there is one more: a.npy"),
        (["--input"], "--input needs a value: --input=..."),
        (["--input="], "--input needs a value: --input=..."),
        (["--input", ""], "--input needs a value: --input=..."),
        (["--output="], "--output needs a value: --output=..."),
        (["--input=x="], "--input=x= needs a value: --input=x=..."),
        (["--output=y="], "--output=y= needs a value: --output=y=..."),
        (["--input=x=1", "--input=t=2"], "main has no input 't'; a file of that name is ./t=2"),
        (["--repeat=0"], "--repeat takes a number of runs, not '0'"),
        (["--inputs=1"], "unknown argument '--inputs=1'"),
    ],
)
def test_a_wrong_command_line_is_refused(add: Command, words: list[str], message: str) -> None:
    assert add.fails(2, *words) == message
