"""The table of libdevice's results: the GPU's half in a file, and the check of others against it.

The file, libdevice/recorded.npz, is numpy's archive. `contents` is JSON text: the device it was
recorded on, and for each group of functions of one signature their names, in order, and a digest of
the rows they were run on. `GROUP.N` holds the bits of the group's result number N: an array of
functions by rows, of 32-bit words, or 64-bit ones where the result has 64 bits.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from programs.libdevice_accuracy import UNBOUNDED, Allowance, documented, from_gpu, truth
from programs.libdevice_functions import Function
from programs.libdevice_programs import Group, Program, programs
from programs.libdevice_values import FORMATS, WIDTHS, Row
from programs.math_reference import Format

RECORDED = Path(__file__).parent / "libdevice" / "recorded.npz"

# The bits of one result: an array of functions by rows.
Bits = Any

# Functions that move bits, a NaN's too. Of the others' NaNs the payload is nobody's promise.
_PAYLOADS = {
    *("nan", "nanf", "int_as_float", "uint_as_float", "longlong_as_double", "hiloint2double"),
}


@dataclass(frozen=True)
class Table:
    """What the GPU's programs printed: by group and number of the result."""

    device: str
    results: Mapping[tuple[str, int], Bits]
    contents: Mapping[str, Any]


def record(outputs: Mapping[str, str], device: str, file: Path = RECORDED) -> Path:
    """Writes what the programs printed, by program, to the file.

    Raises ValueError for an output that is not whole.
    """
    arrays: dict[str, Bits] = {}
    groups: dict[str, dict[str, object]] = {}
    for program in programs():
        for (group, place), bits in _printed(program, outputs[program.name]).items():
            wide = _width(group.results[place]) == 64
            arrays[f"{group.name}.{place}"] = bits.astype(np.uint64 if wide else np.uint32)
            groups[group.name] = _contents(group)
    arrays["contents"] = np.array(json.dumps({"device": device, "groups": groups}))
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file, **arrays)
    return file


def load(file: Path = RECORDED) -> Table:
    """The recorded table. Raises FileNotFoundError when nothing was recorded."""
    with np.load(file) as stored:
        contents = json.loads(str(stored["contents"]))
        results = {_key(name): stored[name] for name in stored.files if name != "contents"}
    return Table(contents["device"], results, contents["groups"])


def compare(name: str, stdout: str, table: Table | None = None) -> list[str]:
    """What is wrong with what a program printed, a line each, empty when all is right.

    Every result is held against the recorded one, and against the exact one where that is known.
    """
    table = table or _recorded()
    (program,) = [program for program in programs() if program.name == name]
    stale = [group.name for group in program.groups if not _is_recorded(group, table)]
    if stale:
        return [f"{name}: other functions or rows were recorded of {group}" for group in stale]
    try:
        printed = _printed(program, stdout)
    except ValueError as error:
        return [str(error)]
    return [
        line
        for (group, place), bits in printed.items()
        for line in _violations(group, place, bits, table.results[group.name, place])
    ]


@cache
def _recorded() -> Table:
    return load()


def _key(name: str) -> tuple[str, int]:
    group, _, place = name.rpartition(".")
    return group, int(place)


def _contents(group: Group) -> dict[str, object]:
    digest = hashlib.sha256(repr(group.rows).encode()).hexdigest()
    return {"functions": [function.name for function in group.functions], "rows": digest}


def _is_recorded(group: Group, table: Table) -> bool:
    return table.contents.get(group.name) == _contents(group)


def _printed(program: Program, stdout: str) -> dict[tuple[Group, int], Bits]:
    """The printed bits of each group's results. Raises ValueError unless all are there."""
    words = stdout.split()
    if len(words) != program.numbers:
        raise ValueError(f"{program.name}: {len(words)} numbers, {program.numbers} expected")
    numbers = np.array([int(word) for word in words], dtype=np.uint64)
    found: dict[tuple[Group, int], Bits] = {}
    start = 0
    for group in program.groups:
        shape = (len(group.functions), len(group.results), len(group.rows))
        part = numbers[start : start + math.prod(shape)].reshape(shape)
        start += math.prod(shape)
        for place in range(len(group.results)):
            found[group, place] = part[:, place]
    return found


def _violations(group: Group, place: int, bits: Bits, recorded: Bits) -> Iterator[str]:
    for number, function in enumerate(group.functions):
        for column, row in enumerate(group.rows):
            actual = int(bits[number, column])
            wrong = _wrong(function, place, row, actual, int(recorded[number, column]))
            if wrong:
                shown = ", ".join(hex(word) for word in row)
                yield f"{function.name}({shown}) result {place}: {wrong}"


def _wrong(function: Function, place: int, row: Row, actual: int, recorded: int) -> str:
    kind = function.results[place]
    values = numbers_of_row(function, row)
    allowed = from_gpu(function, kind, values)
    if function.name in _PAYLOADS and actual != recorded:
        return _apart(kind, actual, recorded, allowed, "the GPU's")
    if not _agree(kind, actual, recorded, allowed):
        return _apart(kind, actual, recorded, allowed, "the GPU's")
    exact = truth(function, values) if place == 0 else None
    if exact is None:
        return ""
    allowed = documented(function, values)
    if not _agree(kind, actual, exact, allowed):
        return _apart(kind, actual, exact, allowed, "exactly")
    return ""


def numbers_of_row(function: Function, row: Row) -> list[float]:
    """The numbers that a row stands for, integers as signed ones."""
    return [_number(kind, bits) for kind, bits in zip(function.inputs, row, strict=True)]


def _number(kind: str, bits: int) -> float:
    if kind in FORMATS:
        return FORMATS[kind].decode(bits)
    width = WIDTHS[kind]
    return float(bits - (1 << width) if bits >> (width - 1) else bits)


def _width(kind: str) -> int:
    return WIDTHS[kind] if kind in WIDTHS else FORMATS[kind].width


def _agree(kind: str, actual: int, wanted: int, allowed: Allowance) -> bool:
    if actual == wanted or allowed == UNBOUNDED:
        return True
    if kind in WIDTHS:
        return False
    form = FORMATS[kind]
    value, other = form.decode(actual), form.decode(wanted)
    if math.isnan(value) or math.isnan(other):
        return math.isnan(value) and math.isnan(other)
    if abs(value - other) <= allowed.absolute:
        return True
    same_sign = not (actual ^ wanted) & form.sign_bit
    return same_sign and _distance(form, actual, wanted) <= allowed.ulp


def _distance(form: Format, actual: int, wanted: int) -> int:
    return abs(form.order(actual) - form.order(wanted))


def _apart(kind: str, actual: int, wanted: int, allowed: Allowance, whose: str) -> str:
    if kind in WIDTHS:
        return f"{actual:#x}, {whose} {wanted:#x}"
    form = FORMATS[kind]
    return (
        f"{form.decode(actual)!r} ({actual:#x}), {whose} {form.decode(wanted)!r} ({wanted:#x}): "
        f"{_distance(form, actual, wanted)} ulp apart, {allowed.ulp} allowed"
    )
