"""Instructions that reach a thread's own values in its block's frame and exchange."""

from __future__ import annotations

from .block_layout import BLOCK, FIELDS, THREAD
from .device_ir import Instruction
from .llvm_text import size_and_alignment
from .metadata import INVARIANT
from .slots import Slot

# What stands before the offset of a slot in the instructions that `pointer_to` makes.
BYTES_BEFORE = r"mul nuw nsw i64 %hirc\.padded, "


def bases() -> list[Instruction]:
    """Returns the frame, the exchange and the padded number of threads of this block."""
    made: list[Instruction] = []
    for name in ("frames", "exchange"):
        made.append(
            Instruction(f"%hirc.{name}.at = getelementptr i8, ptr {BLOCK}, i64 {FIELDS[name]}")
        )
        made.append(
            Instruction(f"%hirc.{name} = load ptr, ptr %hirc.{name}.at, align 8, {INVARIANT}")
        )
    made.append(
        Instruction(
            f"%hirc.padded.at = getelementptr i8, ptr {BLOCK}, i64 {FIELDS['padded_threads']}"
        )
    )
    made.append(
        Instruction(f"%hirc.padded32 = load i32, ptr %hirc.padded.at, align 4, {INVARIANT}")
    )
    made.append(Instruction("%hirc.padded = zext nneg i32 %hirc.padded32 to i64"))
    made.append(Instruction(f"%hirc.thread64 = zext nneg i32 {THREAD} to i64"))
    return made


def pointer_to(name: str, slot: Slot, base: str) -> list[Instruction]:
    """Returns the address of a slot of this thread."""
    return [
        Instruction(f"{name}.before = mul nuw nsw i64 %hirc.padded, {slot.offset}"),
        Instruction(f"{name}.array = getelementptr inbounds i8, ptr {base}, i64 {name}.before"),
        Instruction(
            f"{name} = getelementptr inbounds [{slot.bytes} x i8], ptr {name}.array, "
            "i64 %hirc.thread64"
        ),
    ]


def store(type_text: str, value: str, pointer: str, scratch: str) -> list[Instruction]:
    """Stores a value; `scratch` is a name for a bit as a byte."""
    if type_text != "i1":
        return [Instruction(f"store {type_text} {value}, ptr {pointer}, align {_align(type_text)}")]
    return [
        Instruction(f"{scratch} = zext i1 {value} to i8"),
        Instruction(f"store i8 {scratch}, ptr {pointer}, align 1"),
    ]


def load(value: str, type_text: str, pointer: str) -> list[Instruction]:
    """Loads into the local `value` what `store` has stored."""
    if type_text != "i1":
        return [
            Instruction(f"{value} = load {type_text}, ptr {pointer}, align {_align(type_text)}")
        ]
    return [
        Instruction(f"{value}.byte = load i8, ptr {pointer}, align 1"),
        Instruction(f"{value} = trunc i8 {value}.byte to i1"),
    ]


def _align(type_text: str) -> int:
    return min(size_and_alignment(type_text)[1], 32)
