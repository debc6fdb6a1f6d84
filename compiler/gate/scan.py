"""One pass over a module's text that applies every rule the consumer needs."""

from __future__ import annotations

import re
from functools import lru_cache

from .atomics import RULES as ATOMICS
from .attributes import RULES as ATTRIBUTES
from .conversions import RULES as CONVERSIONS
from .debug_info import RULES as DEBUG_INFO
from .denormals import RULES as DENORMALS
from .error import GateError
from .floats import RULES as FLOATS
from .module_asm import RULES as MODULE_ASM
from .rule import Inexpressible, Rule
from .types import RULES as TYPES
from .versions import FIRST_VERSION, OLDEST

# In the order tried at one place: whole phrases before the words inside them.
RULES: tuple[type[Rule], ...] = (
    *MODULE_ASM,
    *DENORMALS,
    *ATTRIBUTES,
    *CONVERSIONS,
    *ATOMICS,
    *DEBUG_INFO,
    *TYPES,
    *FLOATS,
)

# LLVM escapes a quote inside a string as \22, so a string ends at the next quote.
_OPAQUE = r'"[^"]*"|;[^\n]*'
_FUNCTION = re.compile(r'^define\b[^\n]*?@("[^"]*"|[\w.$-]+)\(', re.MULTILINE)


def to_consumer(text: str, *, consumer: int = OLDEST) -> str:
    """Rewrites LLVM assembly so that LLVM `consumer` parses it with the same meaning.

    `text` must be assembly as LLVM prints it, not as a person may write it. String constants,
    quoted names and comments stay as they are. Optimization hints that the consumer does not know
    are dropped. Raises `GateError` for what the consumer cannot express and ValueError for a
    consumer older than the oldest one known.
    """
    if consumer < OLDEST:
        raise ValueError(f"LLVM {consumer} is older than {OLDEST}, the oldest consumer supported")
    needed = tuple(
        index
        for index, rule in enumerate(RULES)
        if FIRST_VERSION[rule.construct] > consumer
        and any(trigger in text for trigger in rule.triggers)
    )
    if not needed:
        return text
    rules = {f"r{index}": RULES[index]() for index in needed}

    def replace(match: re.Match[str]) -> str:
        found = match[0]
        group = match.lastgroup
        if group is None:
            return found
        rule = rules[group]
        try:
            return rule.rewrite(found)
        except Inexpressible as reason:
            raise _error(text, match.start(), rule.construct, consumer, str(reason)) from None

    return _scanner(needed).sub(replace, text)


@lru_cache(maxsize=64)
def _scanner(needed: tuple[int, ...]) -> re.Pattern[str]:
    """The pattern of what is skipped, then each rule's as a group named after its index."""
    groups = [f"(?P<r{index}>{RULES[index].pattern})" for index in needed]
    return re.compile("|".join([_OPAQUE, *groups]))


def _error(text: str, at: int, construct: str, consumer: int, hint: str) -> GateError:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    # The enclosing definition is the last one begun and not yet closed before the place.
    function = None
    begin = max(text.rfind("\ndefine ", 0, start + 1), -1)
    if line.startswith("define ") or text.rfind("\n}\n", 0, start) <= begin:
        match = _FUNCTION.search(text, begin + 1 if not line.startswith("define ") else start)
        function = match[1].strip('"') if match and match.start() <= at else None
    return GateError(
        construct=construct,
        since=FIRST_VERSION[construct],
        consumer=consumer,
        line=line,
        function=function,
        hint=hint or None,
    )
