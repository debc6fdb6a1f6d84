"""Problems that are modules of the files here: their source, and what they take."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

from .draw import Draw, Problem

_FOLDER = Path(__file__).parent


@cache
def _definitions(file: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Returns the source of each definition of a file, and the names that it uses."""
    text = (_FOLDER / f"{file}.py").read_text()
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            found[node.name] = ast.get_source_segment(text, node) or "", frozenset(names)
    return found


def source(file: str, name: str) -> str:
    """Returns the source of a module of a file, and of what of that file it needs."""
    known, needed, left = _definitions(file), set[str](), [name]
    while left:
        one = left.pop()
        if one in known and one not in needed:
            needed.add(one)
            left += known[one][1]
    text = "\n\n\n".join(known[each][0] for each in known if each in needed)
    # Annotations are not evaluated.
    return text.replace("Sequence[", "list[")


def module(file: str, name: str, inputs: dict[str, str], *given: Any, kind: str = "") -> Problem:
    """Returns the problem of a module of a file, made of these arguments."""
    text = f"{name}({', '.join(map(repr, given))})"
    line = f"return self.network({', '.join(inputs)})"
    fields = (f"self.network = {text}",)
    return Problem(kind or _words(name), fields, (line,), inputs, source(file, name))


def _words(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).lstrip("_")


def tensor(*sizes: int) -> str:
    """Returns the text of an input of floats."""
    return f"torch.rand({', '.join(map(str, sizes))})"


def batch(draw: Draw) -> int:
    """Returns how many pictures or sequences there are."""
    return draw.size(1, 64, tiny=(1, 3))


def wide(draw: Draw, low: int, high: int, of: int = 1) -> int:
    """Returns how many channels or features there are."""
    return draw.size(low, high, of=of, tiny=(2, 4))
