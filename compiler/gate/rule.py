"""What one rewrite of the gate is, and how it refuses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar


class Inexpressible(Exception):
    """Raised by a rule: the construct it found has no older spelling. The text is a hint."""


class Rule(ABC):
    """One construct's rewrite.

    `construct` names it in `versions.FIRST_VERSION`. `triggers` are substrings one of which is on
    every line with the construct: other lines are not searched. `pattern` is a regular expression
    without named groups, applied to one line; it sees neither strings nor comments, and must not
    match inside a name. A rule lives for one module and may keep state between its matches, which
    come in the order of the text.
    """

    construct: ClassVar[str]
    triggers: ClassVar[tuple[str, ...]]
    pattern: ClassVar[str]

    @abstractmethod
    def rewrite(self, found: str) -> str:
        """Returns the older spelling of `found`, a match of `pattern`; `Inexpressible` where none
        is.
        """


class Refusal(Rule):
    """A construct that has no older spelling; `way_out` says what to write instead."""

    way_out: ClassVar[str]

    def rewrite(self, found: str) -> str:
        raise Inexpressible(self.way_out)


# A bare word of the language, not a part of a name (%a.b8, @"x", !b8) and not a label.
WORD_START = r"(?<![\w.$%@!#^-])"
WORD_END = r"(?![\w.$:-])"
