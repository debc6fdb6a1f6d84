"""Reading LLVM IR text as LLVM 22 prints it: types, values, operands and their sizes.

LLVM's printer is regular: one instruction a line (a switch aside), one space between words. Only
what device code is made of is understood here. Strings are placeholders, and no name is quoted
(compiler/ir_text.py).
"""

from __future__ import annotations

import re

from ..ir_text import matching, plain_name

_IDENTIFIER = r"[-\w.$]+"
LOCAL = re.compile(rf"%{_IDENTIFIER}")
GLOBAL = re.compile(rf"@{_IDENTIFIER}")

# What may stand before a type or a value and says nothing that the host's code needs.
_ATTRIBUTE = re.compile(
    r"(?:noundef|nonnull|noalias|nofree|nocapture|captures\([^()]*\)|readonly|readnone|writeonly|"
    r"returned|signext|zeroext|inreg|noext|immarg|nest|swiftself|dead_on_unwind|dead_on_return|"
    r"writable|dereferenceable(?:_or_null)?\(\d+\)|range\([^()]*\)|nofpclass\([^()]*\)|"
    r"align(?: \d+|\(\d+\))|initializes\((?:[^()]|\([^()]*\))*\)|allocptr|allocalign|"
    r'sret\([^()]*\)|"[^"]*"(?:="[^"]*")?)(?=[\s,)]|$)\s*'
)
_SCALAR_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8, "fp128": 16}
_BRACKET_OR_COMMA = re.compile(r"[()\[\]{}<>,]")
_OPENING = "([{<"
_SCALAR = re.compile(rf"(?:ptr(?: addrspace\(\d+\))?|i\d+|[a-z][a-z0-9_]*|%{_IDENTIFIER})")


def shown_name(name: str) -> str:
    """Returns a symbol's name for people: without the digest that makes it unique in a program."""
    return without_digest(plain_name(name))


def without_digest(name: str) -> str:
    """Returns a name without the digest that makes it unique in a program."""
    return re.sub(r"__[0-9a-f]{12}(?=[_.]|$)", "", name)


def type_end(text: str) -> int:
    """Returns the place after the type that a text begins with."""
    if text[0] in "[{<":
        return matching(text, 0)
    match = _SCALAR.match(text)
    if match is None:
        raise ValueError(f"no type: {text}")
    return match.end()


def split_commas(text: str) -> list[str]:
    """Returns the parts between commas that no bracket encloses, without spaces around them."""
    parts: list[str] = []
    depth = start = 0
    for found in _BRACKET_OR_COMMA.finditer(text):
        letter = found[0]
        if letter != ",":
            depth += 1 if letter in _OPENING else -1
        elif depth == 0:
            parts.append(text[start : found.start()].strip())
            start = found.end()
    last = text[start:].strip()
    return [*parts, last] if last else parts


def without_attributes(text: str) -> str:
    """`text` without the attributes that it begins with."""
    while match := _ATTRIBUTE.match(text):
        text = text[match.end() :]
    return text


def typed_value(text: str) -> tuple[str, str]:
    """Type and value of an operand: `i32 noundef %x` is ("i32", "%x").

    That a pointer passes what it points to by value belongs to its type.
    """
    text = without_attributes(text)
    end = type_end(text)
    type_text, value = text[:end], without_attributes(text[end:].strip())
    if value.startswith("byval("):
        end = matching(value, len("byval"))
        align = re.search(r"\balign (\d+)", value)
        type_text += f" {value[:end]}{f' {align[0]}' if align else ''}"
        value = without_attributes(value[end:].strip())
    return type_text, value


def element_types(struct: str) -> list[str]:
    """Returns the fields of a literal struct type."""
    inner = struct.strip("<>").strip()
    return split_commas(inner[1:-1])


def _counted(text: str) -> tuple[int, str]:
    count, _, element = text[1:-1].strip().partition(" x ")
    return int(count), element.strip()


def size_and_alignment(type_text: str) -> tuple[int, int]:
    """Bytes of one element in an array of the type, and its alignment, as on x86-64 and AArch64."""
    if type_text.startswith("ptr "):
        type_text = "ptr"
    if type_text in _SCALAR_BYTES:
        size = _SCALAR_BYTES[type_text]
        return size, size
    if match := re.fullmatch(r"i(\d+)", type_text):
        size = 1
        while size * 8 < int(match[1]):
            size *= 2
        return size, min(size, 16)
    if type_text.startswith("["):
        count, element = _counted(type_text)
        size, align = size_and_alignment(element)
        return count * size, align
    if type_text.startswith(("{", "<{")):
        return _struct_size(type_text)
    if type_text.startswith("<"):
        count, element = _counted(type_text)
        bits = 1 if element == "i1" else size_and_alignment(element)[0] * 8
        size = 1
        while size * 8 < count * bits:
            size *= 2
        return size, size
    raise ValueError(f"size of {type_text} is not known")


def _struct_size(struct: str) -> tuple[int, int]:
    packed = struct.startswith("<")
    size, largest = 0, 1
    for field in element_types(struct):
        bytes_, align = size_and_alignment(field)
        align = 1 if packed else align
        size = -(-size // align) * align + bytes_
        largest = max(largest, align)
    return -(-size // largest) * largest, largest
