"""Everything that the compiler's editing of IR as text looks for, read off its sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from hirc import compiler
from hirc.compiler.gate.scan import RULES

_COMPILER = Path(compiler.__file__).parent
_SOURCES = [
    *sorted((_COMPILER / "cpu_device").rglob("*.py")),
    *sorted((_COMPILER / "gate").rglob("*.py")),
    *(_COMPILER / f"{name}.py" for name in ("device_code", "host_code", "translate", "ir_text")),
]
_WORDS_OF_PATTERNS = re.compile(r"\\|\[|\(\?|[.)\]][*+?]")


def texts() -> list[str]:
    """Every string in those sources but documentation: what is looked for, and what is written."""
    return sorted({text for path in _SOURCES for text in _strings(path)})


def patterns() -> list[re.Pattern[str]]:
    """Every regular expression there, those of the gate's rules among them."""
    found = {rule.pattern for rule in RULES}
    for text in texts():
        if _WORDS_OF_PATTERNS.search(text):
            found.add(text)
    return [made for text in sorted(found) if (made := _compiled(text)) is not None]


def _compiled(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text)
    except re.error:
        return None


def _strings(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    documentation = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    for node in constants:
        if id(node) not in documentation and isinstance(node.value, str) and node.value:
            yield node.value
