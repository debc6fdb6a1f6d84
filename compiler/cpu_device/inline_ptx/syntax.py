"""Reading the text of inline PTX: declarations, labels, predicates, opcodes and operands."""

from __future__ import annotations

import re

from ....dialects.records import dataclass

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LABEL = re.compile(r"\s*([A-Za-z_$%][\w$%]*)\s*:(?!:)")
_PREDICATE = re.compile(r"@(!?)\s*([%$\w]+)\s+")
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Register:
    """A declaration: `.reg .pred p;` has the type `pred`."""

    name: str
    type: str


@dataclass(frozen=True)
class Label:
    """A place to branch to."""

    name: str


@dataclass(frozen=True)
class PtxInstruction:
    """An instruction; `predicate` is empty where it is always done."""

    opcode: str
    operands: tuple[str, ...]
    predicate: str = ""
    negated: bool = False


Statement = Register | Label | PtxInstruction


def parse_ptx(text: str) -> list[Statement]:
    """Returns the statements of a template. Scopes are not told apart: names in one template are
    unique.
    """
    found: list[Statement] = []
    for piece in _pieces(_COMMENT.sub(" ", text)):
        while match := _LABEL.match(piece):
            found.append(Label(match[1]))
            piece = _inside_scopes(piece[match.end() :])
        piece = piece.strip()
        if piece.startswith(".reg"):
            found += _registers(piece)
        elif piece:
            found.append(_instruction(piece))
    return found


def split_operands(text: str) -> tuple[str, ...]:
    """Returns the parts between commas outside brackets."""
    parts, depth, start = list[str](), 0, 0
    for at, letter in enumerate(text):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return tuple(part for part in parts if part)


def _pieces(text: str) -> list[str]:
    """Returns the text between semicolons, without the braces of scopes."""
    pieces = [_inside_scopes(part) for part in text.split(";")]
    return [piece for piece in pieces if piece]


def _inside_scopes(piece: str) -> str:
    """Returns a brace before anything else opens or closes a scope; others enclose vectors."""
    return re.sub(r"^[\s{}]+", "", piece)


def _registers(piece: str) -> list[Statement]:
    _, type_, names = piece.split(None, 2)
    found: list[Statement] = []
    for name in split_operands(names):
        if match := re.fullmatch(r"([%$\w]+)<(\d+)>", name):
            found += [Register(f"{match[1]}{number}", type_[1:]) for number in range(int(match[2]))]
        else:
            found.append(Register(name, type_[1:]))
    return found


def _instruction(piece: str) -> PtxInstruction:
    predicate, negated = "", False
    if match := _PREDICATE.match(piece):
        predicate, negated = match[2], bool(match[1])
        piece = piece[match.end() :]
    opcode, _, operands = piece.replace("\n", " ").replace("\t", " ").partition(" ")
    return PtxInstruction(opcode, split_operands(operands), predicate, negated)
