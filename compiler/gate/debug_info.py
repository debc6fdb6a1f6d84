"""Debug metadata fields that came after LLVM 22."""

from __future__ import annotations

from .rule import Rule


class LanguageDialect(Rule):
    """`!DICompileUnit(..., dialect: DW_LLVM_LANG_DIALECT_simt)`: only a debugger reads it."""

    construct = "DICompileUnit dialect"
    triggers = ("dialect: DW_LLVM_LANG_DIALECT_",)
    pattern = r", dialect: DW_LLVM_LANG_DIALECT_\w+"

    def rewrite(self, found: str) -> str:
        return ""


RULES: tuple[type[Rule], ...] = (LanguageDialect,)
