"""Running a command's program again, and timing it."""

from __future__ import annotations

import re

from support.program_command import Command


def test_outputs_are_those_of_the_first_run(count: Command) -> None:
    text = count.succeeds("--input=@iota", "--repeat=5", "--print")
    assert text == "output0: 4xi32\n[1 2 3 4]\n"


def test_times_are_of_host_and_device(add: Command) -> None:
    text = add.succeeds("--input=@iota", "--input=1", "--input=4", "--time", "--repeat=3")
    seconds = r"[\d.e+]+ (us|ms|s)"
    line = f"median {seconds}, half of them from {seconds} to {seconds}, least {seconds}\n"
    assert re.search(f"^time of 3 runs:\n  host +{line}  device +{line}$", text, re.MULTILINE)


def test_the_memory_of_a_host_program_is_counted(origins: Command) -> None:
    words = ["--input=3x64xf32=@iota", "--input=1", "--input=2", "--time"]
    text = origins.succeeds(*words)
    found = re.search(r"memory of a run:\n  (\d+) bytes at most at a time, (\d+) allocation", text)
    assert found is not None
    assert int(found[1]) >= 3 * 64 * 4
    assert "time of 20 runs" in text
