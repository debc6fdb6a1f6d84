"""The examples of the README, of docs/ and of examples/ compile, link and run as they say.

A fenced block is an example when its first line says so after the language:

    file=NAME       is written to a file of that name
    compile         is a program that compiles and links for sm_90 (compile=ARCH: for that chip)
    run             is run by bash, where hirc and the environment's python come first on PATH and
                    CUDA is the folder of the CUDA that hirc finds; it ends with status 0.
                    For documents one process has loaded what they import, and is forked for each
    output          is what the block before it printed, blanks at line ends and addresses aside

A document's blocks share a folder and run in order, those of an example's README beside its files.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from hirc.compiler.executable import read_linked_file
from hirc.compiler.toolchain import find_cuda

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ROLES = ("file", "compile", "run", "output")
_ADDRESS = re.compile(r"\baddress 0x[0-9a-f]+")


@dataclass(frozen=True)
class Block:
    """A fenced block: its role, that role's value, its text, and the line it begins on."""

    role: str
    value: str
    text: str
    line: int


def blocks_of(text: str) -> list[Block]:
    """The blocks with a role. Raises ValueError for one whose role is not known."""
    found: list[Block] = []
    for match in _FENCE.finditer(text):
        role, _, value = match[2].strip().partition("=")
        if not role:
            continue
        line = text.count("\n", 0, match.start()) + 1
        if role not in _ROLES:
            raise ValueError(f"line {line}: a block's role is one of {_ROLES}, not '{role}'")
        found.append(Block(role, value, match[3], line))
    return found


def comparable(text: str) -> list[str]:
    """The lines of what a program printed, without what differs from run to run."""
    return [_ADDRESS.sub("address", line.rstrip()) for line in text.splitlines()]


def shell(
    command: str, folder: Path, commands: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    first = [commands, Path(sys.executable).parent] if commands else [Path(sys.executable).parent]
    environment["PATH"] = os.pathsep.join([*map(str, first), environment["PATH"]])
    environment["CUDA"] = str(find_cuda().root)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def run_blocks(document: Path, folder: Path, commands: Path | None = None) -> None:
    """Does in a folder what a document's blocks say. Those among `commands` come first on PATH."""
    printed = ""
    for block in blocks_of(document.read_text()):
        where = f"{document.relative_to(ROOT)}:{block.line}"
        if block.role == "file":
            (folder / block.value).write_text(block.text)
        elif block.role == "output":
            assert comparable(printed) == comparable(block.text), where
        else:
            command = block.text
            if block.role == "compile":
                (folder / "example.mlir").write_text(block.text)
                arch = block.value or "sm_90"
                command = f"hirc example.mlir -o example --offload-arch={arch}"
            done = shell(command, folder, commands)
            assert done.returncode == 0, f"{where}\n{done.stdout}{done.stderr}"
            printed = done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_documents(document: Path, tmp_path: Path, loaded_commands: Path) -> None:
    run_blocks(document, tmp_path, loaded_commands)


@pytest.mark.parametrize("document", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples(document: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)
    folder = tmp_path / document.parent.name
    run_blocks(document, folder)
    if folder.name == "two-chips":
        linked = read_linked_file(folder / "saxpy")
        assert linked.entries == len(linked.device_symbols) > 0
        assert sorted(image.arch for image in linked.images) == ["sm_80", "sm_90"]


def test_every_example_is_listed_and_runs() -> None:
    listed = re.findall(r"^\| \[([\w-]+)\]", (ROOT / "examples" / "README.md").read_text(), re.M)
    assert sorted(listed) == [path.parent.name for path in EXAMPLES]
    readme = (ROOT / "README.md").read_text()
    for path in EXAMPLES:
        text = path.read_text()
        # What the README runs already, and takes long, is not run again.
        commands = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
        assert all(command in readme for command in commands)
        assert commands or any(block.role == "run" for block in blocks_of(text))


def test_a_newcomer_finds_the_files_of_the_readme() -> None:
    blocks = blocks_of((ROOT / "README.md").read_text())
    files = {block.value: block.text for block in blocks if block.role == "file"}
    assert "net.py" in files
    for name, text in files.items():
        (found,) = (ROOT / "examples").glob(f"*/{name}")
        assert found.read_text() == text


def test_what_clang_alone_finishes_is_complete(tmp_path: Path) -> None:
    """The README's commands make a program whose kernel is registered, not just one that links."""
    blocks = blocks_of((ROOT / "README.md").read_text())
    source = next(block for block in blocks if block.value == "prog.mlir")
    commands = next(block for block in blocks if "--offload-link" in block.text)
    (tmp_path / "prog.mlir").write_text(source.text)
    done = shell(commands.text, tmp_path)
    assert done.returncode == 0, done.stderr
    linked = read_linked_file(tmp_path / "prog")
    assert linked.entries == len(linked.device_symbols) == 1
    assert [image.arch for image in linked.images] == ["sm_90"]


def test_links_between_documents() -> None:
    for document in [*DOCUMENTS, *EXAMPLES, *ROOT.glob("*.md"), ROOT / "examples" / "README.md"]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_there_are_examples() -> None:
    roles = [block.role for path in DOCUMENTS for block in blocks_of(path.read_text())]
    assert {"file", "compile", "run", "output"} <= set(roles)


def test_a_role_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 2: a block's role"):
        blocks_of("text\n```sh rnu\nls\n```\n")


def test_addresses_may_differ_and_nothing_else() -> None:
    assert comparable("address 0x7f00 is 4 bytes  \n") == comparable("address 0x40 is 4 bytes\n")
    assert comparable("mask 0xff, address 0x40") != comparable("mask 0xf, address 0x40")
