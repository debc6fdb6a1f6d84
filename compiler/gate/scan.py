"""One pass over a module's text that applies every rule the consumer needs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ..ir_text import OPAQUE
from .atomics import RULES as ATOMICS
from .attributes import RULES as ATTRIBUTES
from .conversions import RULES as CONVERSIONS
from .debug_info import RULES as DEBUG_INFO
from .denormals import RULES as DENORMALS
from .error import GateError
from .floats import RULES as FLOATS
from .module_asm import RULES as MODULE_ASM
from .rule import Inexpressible, Rule
from .tensor_reduce import RULES as TENSOR_REDUCE
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
    *TENSOR_REDUCE,
    *TYPES,
    *FLOATS,
)

_NAME = r'("[^"]*"|[\w.$-]+)'
_HEADER = re.compile(rf"define\b.*?@{_NAME}\(")
_GROUP = re.compile(r"attributes (#\d+) = ")


def to_consumer(text: str, *, consumer: int = OLDEST) -> str:
    """Rewrites LLVM assembly so that LLVM `consumer` parses it with the same meaning.

    `text` must be assembly as LLVM prints it, not as a person may write it. Strings, quoted names
    and comments stay as they are. Optimization hints that the consumer does not know are dropped.
    Raises `GateError` for what the consumer cannot express and ValueError for a consumer older than
    the oldest one known.
    """
    if consumer < OLDEST:
        raise ValueError(f"LLVM {consumer} is older than {OLDEST}, the oldest consumer supported")
    needed: list[int] = []
    starts: set[int] = set()
    for index, rule in enumerate(RULES):
        if FIRST_VERSION[rule.construct] > consumer:
            lines = _lines_with(text, rule.triggers)
            if lines:
                needed.append(index)
                starts |= lines
    if not needed:
        return text

    rules = {f"r{index}": RULES[index]() for index in needed}
    scanner = _scanner(tuple(needed))
    line_start = 0

    def replace(match: re.Match[str]) -> str:
        group = match.lastgroup
        if group is None:
            return match[0]
        rule = rules[group]
        try:
            return rule.rewrite(match[0])
        except Inexpressible as reason:
            raise _error(text, line_start, rule.construct, consumer, str(reason)) from None

    pieces: list[str] = []
    done = 0
    for line_start in sorted(starts):
        pieces.append(text[done:line_start])
        done = _line_end(text, line_start)
        pieces.append(scanner.sub(replace, text[line_start:done]))
    pieces.append(text[done:])
    return "".join(pieces)


def _lines_with(text: str, triggers: Iterable[str]) -> set[int]:
    """Returns the offsets at which lines with one of the triggers start."""
    starts: set[int] = set()
    for trigger in triggers:
        at = text.find(trigger)
        while at >= 0:
            starts.add(text.rfind("\n", 0, at) + 1)
            at = text.find(trigger, _line_end(text, at))
    return starts


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


@lru_cache(maxsize=64)
def _scanner(needed: tuple[int, ...]) -> re.Pattern[str]:
    """Returns the pattern of what is skipped, then each rule's as a group named after its index."""
    groups = [f"(?P<r{index}>{RULES[index].pattern})" for index in needed]
    return re.compile("|".join([OPAQUE.pattern, *groups]))


def _error(text: str, line_start: int, construct: str, consumer: int, hint: str) -> GateError:
    return GateError(
        construct=construct,
        since=FIRST_VERSION[construct],
        consumer=consumer,
        line=text[line_start : _line_end(text, line_start)],
        function=_function_at(text, line_start),
        hint=hint or None,
    )


def _function_at(text: str, line_start: int) -> str | None:
    """Returns the function whose definition holds the line, or the first that has its attribute
    group.
    """
    group = _GROUP.match(text, line_start)
    if group is not None:
        user = re.search(rf"^(?:define|declare).*?@{_NAME}\(.*{group[1]}\b", text, re.MULTILINE)
        return user[1].strip('"') if user is not None else None
    begin = text.rfind("\ndefine ", 0, line_start + len("define ")) + 1
    if text.find("\n}\n", begin, line_start) >= 0:
        return None
    header = _HEADER.match(text, begin)
    return header[1].strip('"') if header is not None else None
