"""hirc-opt's command line: parsing it, with passes as flags in the order given."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import __version__
from .argument_parser import ArgumentParser, written_path

_EPILOG = """\
every other --NAME or --NAME=OPTIONS runs the pass NAME, one of hirc's or of upstream's, in the
order given, before a --pass-pipeline.

examples:
  hirc-opt in.mlir --expand-gpu-memset --gpu-kernel-outlining
  hirc-opt in.mlir --name-device-symbols=unit=ab --mlir-print-debuginfo
  hirc-opt in.mlir -p 'builtin.module(gpu.module(convert-gpu-to-nvvm{index-bitwidth=64}))'
"""


@dataclass(frozen=True)
class OptRequest:
    """A parsed command line of hirc-opt. `pipeline` is the text of all passes to run."""

    input: str
    output: str
    pipeline: str
    split_input: bool
    verify_diagnostics: bool
    print_ir_after: str | None
    debug_info: bool
    generic_form: bool
    bytecode: bool
    allow_unregistered: bool
    list_passes: bool


def parse_arguments(arguments: Sequence[str]) -> OptRequest:
    """Parses a command line. Raises InputError for one that is wrong."""
    parser, known = _make_parser()
    words, passes = _without_passes(arguments, known)
    values = parser.parse_args(words)
    return OptRequest(
        input=values.input,
        output=values.output,
        pipeline=_joined(passes, values.pass_pipeline),
        split_input=values.split_input_file,
        verify_diagnostics=values.verify_diagnostics,
        print_ir_after=values.print_ir_after,
        debug_info=values.mlir_print_debuginfo,
        generic_form=values.mlir_print_op_generic,
        bytecode=values.emit_bytecode,
        allow_unregistered=values.allow_unregistered_dialect,
        list_passes=values.list_passes,
    )


def _without_passes(arguments: Sequence[str], known: set[str]) -> tuple[list[str], list[str]]:
    """Returns the words that are options or inputs, and the passes as pipeline elements."""
    words: list[str] = []
    passes: list[str] = []
    for word in arguments:
        name, equals, options = word.partition("=")
        if not word.startswith("--") or name in known:
            words.append(word)
        elif equals:
            inside = options.strip().removeprefix("{").removesuffix("}")
            passes.append(f"{name[2:]}{{{inside}}}")
        else:
            passes.append(name[2:])
    return words, passes


def _joined(passes: Sequence[str], pipeline: str | None) -> str:
    """Both forms as one pipeline; a whole one may say `builtin.module(...)` around it."""
    text = (pipeline or "").strip()
    if passes and text.startswith("builtin.module(") and text.endswith(")"):
        text = text[len("builtin.module(") : -1]
    return ",".join([*passes, text]) if text else ",".join(passes)


def _make_parser() -> tuple[argparse.ArgumentParser, set[str]]:
    parser = ArgumentParser(
        prog="hirc-opt",
        description="Runs MLIR passes, hirc's own and upstream's, and prints the result.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    known = {"--help", "--version"}

    def add(*names: str, **settings: Any) -> None:
        known.update(names)
        parser.add_argument(*names, **settings)

    def flag(name: str, text: str) -> None:
        add(name, action="store_true", help=text)

    add(
        "input",
        nargs="?",
        type=written_path,
        default="-",
        metavar="INPUT",
        help="MLIR text or bytecode (-: stdin)",
    )
    add(
        "-o",
        dest="output",
        type=written_path,
        default="-",
        metavar="FILE",
        help="where the output goes (stdout)",
    )
    add("-p", "--pass-pipeline", metavar="PIPELINE", help="passes to run; // lines are comments")
    flag("--split-input-file", "take the parts between `// -----` lines one by one")
    flag("--verify-diagnostics", "compare diagnostics with the input's expected-error comments")
    add(
        "--print-ir-after",
        metavar="PASS|all|changed",
        help="print the MLIR after passes to standard error",
    )
    flag("--mlir-print-debuginfo", "print locations")
    flag("--mlir-print-op-generic", "print every operation in the generic form")
    flag("--emit-bytecode", "write MLIR bytecode")
    flag("--allow-unregistered-dialect", "take operations of dialects nobody registered")
    flag("--list-passes", "list hirc's own passes with their options")
    add("--version", action="version", version=f"hirc {__version__}")
    return parser, known
