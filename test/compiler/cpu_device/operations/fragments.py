"""Matrices in the registers of a warp: elements' bits, and fragments by the PTX ISA's tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .warp import Array

Matrix = NDArray[np.float64]
Place = Callable[[int, int], tuple[int, int]]  # lane, element -> row, column

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8} | {
    "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32,
}  # fmt: skip


def encode(type_: str, value: float) -> int:
    """An element's bits. Small floats are 0, 1/2, 1, 3/2, 2 and their negatives."""
    match type_:
        case "f16":
            return int(np.float16(value).view(np.uint16))
        case "bf16":
            return int(np.float32(value).view(np.uint32)) >> 16
        case "tf32":  # the low bits are noise that must be ignored
            return int(np.float32(value).view(np.uint32)) | 0x0ABC
        case "f32":
            return int(np.float32(value).view(np.uint32))
        case "f64":
            return int(np.float64(value).view(np.uint64))
        case "e4m3" | "e5m2":
            exponent_bits, mantissa_bits, bias = (4, 3, 7) if type_ == "e4m3" else (5, 2, 15)
            if value == 0:
                return 0
            fraction, exponent = np.frexp(abs(value))
            mantissa = int((2 * fraction - 1) * (1 << mantissa_bits))
            sign = int(value < 0) << (exponent_bits + mantissa_bits)
            return sign | (int(exponent) - 1 + bias) << mantissa_bits | mantissa
        case _:
            return int(value) & ((1 << BITS[type_]) - 1)


def decode(type_: str, bits: int) -> float:
    """An element from its bits."""
    match type_:
        case "f16":
            return float(np.uint16(bits).view(np.float16))
        case "f32":
            return float(np.uint32(bits).view(np.float32))
        case "f64":
            return float(np.uint64(bits).view(np.float64))
        case _:
            return float(np.uint32(bits).view(np.int32))


def random_matrix(rng: np.random.Generator, type_: str, shape: tuple[int, int]) -> Matrix:
    """Numbers whose products and sums are exact."""
    match type_:
        case "b1":
            return rng.integers(0, 2, shape).astype(float)
        case "u4" | "u8":
            return rng.integers(0, 1 << BITS[type_], shape).astype(float)
        case "s4" | "s8":
            half = 1 << (BITS[type_] - 1)
            return rng.integers(-half, half, shape).astype(float)
        case "s32":
            return rng.integers(-1000, 1000, shape).astype(float)
        case _:
            return rng.integers(-4, 5, shape).astype(float) * 0.5


# The formulas of PTX ISA's sections on fragments, one for each register file.
def place_a(type_: str, m: int) -> Place:
    """Where a's elements lie."""
    each = max(1, 32 // BITS[type_])

    def place(lane: int, i: int) -> tuple[int, int]:
        register, within = divmod(i, each)
        group, member = lane >> 2, lane % 4
        if m == 8:
            return group, member * each + within
        row = group if register % 2 == 0 else group + 8
        return row, member * each + within + (register // 2) * 4 * each

    return place


def place_b(type_: str) -> Place:
    """Where b's elements lie."""
    each = max(1, 32 // BITS[type_])
    return lambda lane, i: (lane % 4 * each + i % each + i // each * 4 * each, lane >> 2)


def place_c(m: int) -> Place:
    """Where the accumulator's elements lie."""

    def place(lane: int, i: int) -> tuple[int, int]:
        row = (lane >> 2) + (8 if m == 16 and i % 4 >= 2 else 0)
        return row, lane % 4 * 2 + i % 2

    return place


def pack(matrix: Matrix, type_: str, place: Place) -> list[Array]:
    """The registers of all lanes."""
    count, bits = matrix.size // 32, BITS[type_]
    width = max(32, bits)
    each = width // bits
    registers = [
        np.zeros(32, np.uint64 if bits == 64 else np.uint32) for _ in range(-(-count // each))
    ]
    for lane in range(32):
        for i in range(count):
            value = encode(type_, float(matrix[place(lane, i)]))
            registers[i // each][lane] |= registers[0].dtype.type(value << (i % each * bits))
    return list(registers)


def unpack(registers: list[Array], type_: str, shape: tuple[int, int], place: Place) -> Matrix:
    """The matrix that registers of all lanes hold."""
    matrix, bits = np.full(shape, np.nan), BITS[type_]
    each = registers[0].itemsize * 8 // bits
    for lane in range(32):
        for i in range(matrix.size // 32):
            word = int(registers[i // each][lane]) >> (i % each * bits)
            matrix[place(lane, i)] = decode(type_, word & ((1 << bits) - 1))
    return matrix
