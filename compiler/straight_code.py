"""How much the functions of the host are optimised, so that compile time stays in proportion.

LLVM's optimiser and register allocator take more than twice the time over a function of twice the
size. A large host function is a list of launches and checks, each of which runs once a call: what
optimising it saves is nothing beside the launches. Code without a loop gains little from most
passes: each of its instructions runs once a call at most.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ..dialects.records import dataclass

# Instructions of a function that is optimised, without loops and with them.
_LARGE = 4_000
_LARGE_WITH_LOOPS = 20_000
# Instructions that copies of one function may have in all its callers together: the register
# allocator takes more than twice the time over a function of twice the size, too.
_COPIED = 8_000
# Instructions that are optimised in all; beyond them functions without loops are not.
_BUDGET = 20_000

_NAME = re.compile(r'@(?:"([^"]*)"|([\w.$-]+))\(')
_LABEL = re.compile(r'^(?:"([^"]*)"|([\w.$-]+)):')
_CALL = re.compile(r"\bcall\b[^@\n]*@([\w.$-]+)\(")
_TARGET = re.compile(r'label %(?:"([^"]*)"|([\w.$-]+))')


@dataclass(frozen=True)
class _Function:
    name: str
    instructions: int
    has_loop: bool


@dataclass(frozen=True)
class HostFunctions:
    """The functions of an IR text that are too large to be optimised, in its order; whether none
    has a loop; those that one call names; and those of so many calls that callers are to have no
    copies of them.
    """

    kept: list[str]
    are_straight: bool
    called_once: frozenset[str]
    called_often: list[str]


def host_functions(text: str) -> HostFunctions:
    """Returns what of the functions of an IR text decides how they are optimised."""
    budget = _BUDGET
    names: list[str] = []
    calls = Counter(_CALL.findall(text))
    often: list[str] = []
    are_straight = True
    for function in _functions(text):
        if function.instructions * calls[function.name] > _COPIED:
            often.append(function.name)
        are_straight &= not function.has_loop
        large = _LARGE_WITH_LOOPS if function.has_loop else _LARGE
        spent = not function.has_loop and function.instructions > budget
        if function.instructions > large or spent:
            names.append(function.name)
        else:
            budget -= function.instructions
    once = frozenset(name for name, count in calls.items() if count == 1)
    return HostFunctions(names, are_straight, once, often)


def _functions(text: str) -> Iterator[_Function]:
    """Yields the functions with a body. A branch to a block that stands before it makes a loop."""
    name, count, has_loop = "", 0, False
    before: set[str] = set()
    for line in text.splitlines():
        if line.startswith("define "):
            found = _NAME.search(line)
            assert found is not None, line
            name, count, has_loop = found[1] or found[2], 0, False
            # The first block has no label where nothing gives it one, and no branch goes there.
            before = set()
        elif name and line == "}":
            yield _Function(name, count, has_loop)
            name = ""
        elif name and (label := _LABEL.match(line)):
            before.add(label[1] or label[2])
        elif name:
            count += 1
            if "label %" in line:
                has_loop |= any((a or b) in before for a, b in _TARGET.findall(line))
