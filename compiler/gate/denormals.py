"""How a function treats denormals: an attribute of its own since 23, two string attributes before.

`denormal_fpenv(OUT|IN, float: OUT|IN)` is `"denormal-fp-math"="OUT,IN"` and
`"denormal-fp-math-f32"="OUT,IN"`; one word stands for both directions, and the part for float is
left out where it equals the other.
"""

from __future__ import annotations

import re

from .rule import WORD_START, Rule

_NAMES = {
    "ieee": "ieee",
    "preservesign": "preserve-sign",
    "positivezero": "positive-zero",
    "dynamic": "dynamic",
}
_PARTS = re.compile(r"(float:\s*)?([a-z]+)(?:\|([a-z]+))?")


class DenormalEnvironment(Rule):
    """`denormal_fpenv(preservesign)` to `"denormal-fp-math"="preserve-sign,preserve-sign"`."""

    construct = "denormal_fpenv"
    triggers = ("denormal_fpenv(",)
    pattern = rf"{WORD_START}denormal_fpenv\([^)]*\)"

    def rewrite(self, found: str) -> str:
        attributes: list[str] = []
        inside = found[found.index("(") + 1 : -1]
        for part in _PARTS.finditer(inside):
            key = "denormal-fp-math-f32" if part[1] else "denormal-fp-math"
            outputs, inputs = _NAMES[part[2]], _NAMES[part[3] or part[2]]
            attributes.append(f'"{key}"="{outputs},{inputs}"')
        return " ".join(attributes)


RULES: tuple[type[Rule], ...] = (DenormalEnvironment,)
