"""Module-level assembly: one block of lines since 23, one statement a line before."""

from __future__ import annotations

from .rule import Refusal, Rule


class ModuleAsmBlock(Rule):
    """`module asm` and then indented strings, to one `module asm "..."` a line.

    Nothing else of a module is printed as an indented string alone on its line.
    """

    construct = "module asm blocks"
    triggers = ("module asm\n", '    "')
    pattern = r'^module asm$|^ +"[^"]*"$'

    def rewrite(self, found: str) -> str:
        return "" if found == "module asm" else f"module asm {found.strip()}"


class ModuleAsmProperties(Refusal):
    """`module asm(target_cpu: "...")`: assembled for another chip than the module's."""

    construct = "module asm properties"
    triggers = ("module asm(",)
    pattern = r"^module asm\("
    way_out = "assemble that part on its own and link it"


RULES: tuple[type[Rule], ...] = (ModuleAsmBlock, ModuleAsmProperties)
