"""The host has one address space."""

from __future__ import annotations

import re

from ..ir_text import matching

_SPACE = re.compile(r",? addrspace\(\d+\)")
_MANGLED = re.compile(r"(@llvm\.(?!nvvm)[\w.]+)")


def without_address_spaces(text: str) -> str:
    """An instruction or a variable's definition without address spaces and casts between them."""
    if "addrspace" in text:
        text = _SPACE.sub("", text)
        text = re.sub(r"= addrspacecast ", "= bitcast ", text)
        while (start := text.find("addrspacecast (")) >= 0:
            opening = text.index("(", start)
            end = matching(text, opening)
            inner = text[opening + 1 : end - 1]
            text = text[:start] + inner[len("ptr ") : -len(" to ptr")] + text[end:]
    if "@llvm." not in text:
        return text
    return _MANGLED.sub(lambda match: re.sub(r"\.p\d+\b", ".p0", match[1]), text)
