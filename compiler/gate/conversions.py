"""Fast-math flags on integer to floating-point conversions, which only license optimizations."""

from __future__ import annotations

import re

from .rule import WORD_START, Rule

_FLAGS = r"(?:(?:nnan|ninf|nsz|arcp|contract|afn|reassoc|fast) )"
_FLAG = re.compile(_FLAGS)


class ConversionFlags(Rule):
    """`uitofp fast nneg i32 %a to float` to `uitofp nneg i32 %a to float`."""

    construct = "fast-math flags on uitofp and sitofp"
    triggers = ("uitofp ", "sitofp ")
    pattern = rf"{WORD_START}[us]itofp {_FLAGS}+"

    def rewrite(self, found: str) -> str:
        return _FLAG.sub("", found)


RULES: tuple[type[Rule], ...] = (ConversionFlags,)
