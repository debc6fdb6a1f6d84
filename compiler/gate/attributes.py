"""Attributes of functions and parameters that came after LLVM 22.

Those that only inform the optimizer lose their effect. `nooutline` was a string attribute of the
same name. `noipa` forbids what the older optimizer may do, so it cannot be dropped.
"""

from __future__ import annotations

from .rule import WORD_END, WORD_START, Refusal, Rule


class DeadOnReturnSize(Rule):
    """`dead_on_return(8)` is dropped: without a size it would claim the whole object dead."""

    construct = "dead_on_return with a size"
    triggers = ("dead_on_return(",)
    pattern = rf"{WORD_START}dead_on_return\(\d+\)"

    def rewrite(self, found: str) -> str:
        return ""


class Flatten(Rule):
    """`flatten`, a wish to inline every call of the body, to a string attribute nobody reads.

    Dropping the word could leave a group without attributes, which is a syntax error.
    """

    construct = "flatten"
    triggers = ("flatten",)
    pattern = rf"{WORD_START}flatten{WORD_END}"

    def rewrite(self, found: str) -> str:
        return '"flatten"'


class PreferredAlignment(Rule):
    """`prefalign(64)` after a function's header is dropped; `align` still holds."""

    construct = "prefalign"
    triggers = ("prefalign(",)
    pattern = rf"{WORD_START}prefalign\(\d+\)"

    def rewrite(self, found: str) -> str:
        return ""


class NoOutline(Rule):
    """`nooutline` to `"nooutline"`."""

    construct = "nooutline"
    triggers = ("nooutline",)
    pattern = rf"{WORD_START}nooutline{WORD_END}"

    def rewrite(self, found: str) -> str:
        return '"nooutline"'


class NoInterproceduralAnalysis(Refusal):
    """`noipa`."""

    construct = "noipa"
    triggers = ("noipa",)
    pattern = rf"{WORD_START}noipa{WORD_END}"
    way_out = "use noinline and optnone, or put the function in its own module"


class TargetMemory(Rule):
    """`memory(target_mem: X)` to the locations it stands for, `target_mem0` and `target_mem1`."""

    construct = "memory(target_mem)"
    triggers = ("target_mem: ",)
    pattern = rf"{WORD_START}memory\([^)]*target_mem: [^)]*\)"

    def rewrite(self, found: str) -> str:
        parts = found[len("memory(") : -1].split(", ")
        named = {part.split(":")[0] for part in parts}
        written: list[str] = []
        for part in parts:
            location, _, access = part.partition(": ")
            if location == "target_mem":
                both = [name for name in ("target_mem0", "target_mem1") if name not in named]
                written += [f"{name}: {access}" for name in both]
            else:
                written.append(part)
        return f"memory({', '.join(written)})"


RULES: tuple[type[Rule], ...] = (
    DeadOnReturnSize,
    Flatten,
    PreferredAlignment,
    NoOutline,
    NoInterproceduralAnalysis,
    TargetMemory,
)
