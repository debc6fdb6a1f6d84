"""LLVM IR text that can be searched and edited: with its strings and comments out of reach.

A string may hold anything, a line of IR too, and so may a quoted name. `IrText.of` therefore takes
every string out of the text before anybody looks at it, and leaves a placeholder, a quoted number,
that no pattern of the language matches; a quoted name becomes one that needs no quotes; a comment
goes. `whole` puts everything back. Whoever searches or edits IR as text takes an `IrText`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field

from ..dialects.records import dataclass

# LLVM spells quotes in a string \22 and prints neither this letter nor any other beyond ASCII.
_HELD = re.compile(r'"¶(\d+)"')
# What stands for a quoted name begins so; a name that does by itself is treated as a quoted one.
_MARK = "hirc.q."
_OPAQUE = r'"[^"\n]*"|;[^\n]*|/\*.*?\*/'
OPAQUE = re.compile(_OPAQUE)
"""A string, a quoted name, or a comment. LLVM escapes quotes and newlines inside of one."""
_MARKED = re.compile(rf"{_OPAQUE}|(?<=[@%$]){re.escape(_MARK)}[-\w.$]*", re.ASCII)
_BRACKET = re.compile(r"[()\[\]{}<>]")
_PLAIN = re.compile(r"[-a-zA-Z$._][-\w$.]*", re.ASCII)
_UNSAFE = re.compile(rb"[^-\w.]")
_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
_ESCAPES = [
    chr(byte) if 32 <= byte < 127 and byte != ord('"') else f"\\{byte:02X}" for byte in range(256)
]
_ESCAPES[ord("\\")] = r"\\"
_ENCODED = re.compile(rb"\$([0-9A-F]{2})")


def escaped(data: bytes) -> str:
    """Returns what stands between the quotes of a string, as LLVM prints it."""
    return "".join(_ESCAPES[byte] for byte in data)


def _unescaped(content: str) -> bytes:
    data = content.encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(_escape_byte, data) if "\\" in content else data


def _escape_byte(match: re.Match[bytes]) -> bytes:
    return match[1] if match[1] == b"\\" else bytes([int(match[1], 16)])


def plain_name(name: str) -> str:
    """Returns a symbol's name without its @ or %, and as the program spells it."""
    inner = name[1:]
    if not inner.startswith(_MARK):
        return inner
    return _decoded(inner).decode("utf-8", "surrogateescape")


def global_name(plain: str) -> str:
    """Returns a symbol as the text of an `IrText` spells it."""
    if _PLAIN.fullmatch(plain) and not plain.startswith(_MARK):
        return f"@{plain}"
    return f"@{_encoded(plain.encode('utf-8', 'surrogateescape'))}"


def matching(text: str, start: int) -> int:
    """Returns the place after the bracket that closes the one at `start`."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] in "([{<" else -1
        if depth == 0:
            return bracket.end()
    raise ValueError(f"unbalanced: {text[start:]}")


def _encoded(data: bytes) -> str:
    return _MARK + _UNSAFE.sub(lambda match: b"$%02X" % match[0][0], data).decode("ascii")


def _decoded(name: str) -> bytes:
    data = name[len(_MARK) :].encode("ascii")
    return _ENCODED.sub(lambda match: bytes([int(match[1], 16)]), data)


@dataclass
class Strings:
    """The strings of a module, each under a placeholder."""

    _contents: list[str] = field(default_factory=list[str])
    _numbers: dict[str, int] = field(default_factory=dict[str, int])

    def hold(self, content: str) -> str:
        """Returns the placeholder for a string whose escaped content is given; equal
        ones share it.
        """
        number = self._numbers.setdefault(content, len(self._contents))
        if number == len(self._contents):
            self._contents.append(content)
        return f'"¶{number}"'

    def hold_text(self, text: str) -> str:
        """Returns the placeholder for a string that says `text`."""
        return self.hold(escaped(text.encode("utf-8", "surrogateescape")))

    def find(self, text: str) -> str | None:
        """Returns the placeholder for a string that says `text`, or None where there is no such
        string.
        """
        number = self._numbers.get(escaped(text.encode("utf-8", "surrogateescape")))
        return None if number is None else f'"¶{number}"'

    def text(self, placeholder: str) -> str:
        """Returns what a string says."""
        content = self._contents[int(placeholder[2:-1])]
        return _unescaped(content).decode("utf-8", "surrogateescape")

    def whole(self, code: str) -> str:
        """`code` with the strings and the quoted names in their places."""
        code = _HELD.sub(lambda match: f'"{self._contents[int(match[1])]}"', code)
        # A string may hold what looks like a name of this module's.
        return code if _MARK not in code else _with_names(code)


def _with_names(code: str) -> str:
    return re.sub(
        rf'"[^"]*"|(?<![-\w.$]){re.escape(_MARK)}[-\w.$]*',
        lambda match: match[0] if match[0][0] == '"' else f'"{escaped(_decoded(match[0]))}"',
        code,
        flags=re.ASCII,
    )


@dataclass(frozen=True)
class IrText:
    """A module's text: `code` has neither strings nor comments, `strings` has the strings."""

    code: str
    strings: Strings

    @classmethod
    def of(cls, text: str) -> IrText:
        """Takes text as LLVM prints it."""
        strings = Strings()

        def held(match: re.Match[str]) -> str:
            token = match[0]
            if token[0] != '"':
                return "" if token[0] in ";/" else _encoded(token.encode())
            before, after = text[match.start() - 1 : match.start()], match.end()
            if (before and before in "@%$") or text.startswith(":", after):
                return _encoded(_unescaped(token[1:-1]))
            return strings.hold(token[1:-1])

        pattern = _MARKED if _MARK in text else OPAQUE
        return cls(pattern.sub(held, text), strings)

    def whole(self) -> str:
        """Returns the text as LLVM reads it."""
        return self.strings.whole(self.code)

    def with_code(self, code: str) -> IrText:
        """Other code with the same strings."""
        return IrText(code, self.strings)

    def sub(
        self, pattern: re.Pattern[str] | str, replacement: str | Callable[[re.Match[str]], str]
    ) -> IrText:
        """Replaces what the pattern matches in the code; ^ and $ match at lines."""
        return self.with_code(re.sub(pattern, replacement, self.code, flags=re.MULTILINE))


def without_line_tables(text: IrText) -> IrText:
    """Returns the IR without debug locations of instructions and functions."""
    return text.sub(r"^!llvm\.dbg\.cu = .*$|,? !dbg !\d+", "")
