"""Module-level assembly: one block of lines since 23, one statement a line before."""

from __future__ import annotations

import re

from .rule import WORD_START, Inexpressible, Rule

_LINE = re.compile(r'"[^"]*"')


class ModuleAsmBlock(Rule):
    """`module asm` followed by indented strings, to one `module asm "..."` a line."""

    construct = "module asm blocks"
    triggers = ("module asm\n",)
    pattern = rf'{WORD_START}module asm\n(?: *"[^"]*"\n?)*'

    def rewrite(self, found: str) -> str:
        return "".join(f"module asm {line}\n" for line in _LINE.findall(found))


class ModuleAsmProperties(Rule):
    """`module asm(target_cpu: "...")`: assembled for another chip than the module's."""

    construct = "module asm properties"
    triggers = ("module asm(",)
    pattern = rf"{WORD_START}module asm\("

    def rewrite(self, found: str) -> str:
        raise Inexpressible("assemble that part on its own and link it")


RULES: tuple[type[Rule], ...] = (ModuleAsmBlock, ModuleAsmProperties)
