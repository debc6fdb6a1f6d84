"""What the documents list is what there is: options, variables, stages, folders, passes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.gpu_program import GpuProgramOptions, gpu_program_stages
from hirc.pipelines.host_ir import HostIrOptions, host_ir_stages
from hirc.pipelines.pass_base import pass_names
from hirc.tools import hirc_run_arguments
from support.environment import ROOT

_DOCS = ROOT / "docs"
_SOURCES = ("compiler", "dialects", "frontends", "pipelines", "tools")
_OPTION = re.compile(r"(?<![\w/-])--?[a-zA-Z#][\w#-]*")
_VARIABLE = re.compile(r"\bHIRC_[A-Z_]*[A-Z]\b")


def read(pattern: str, folder: Path = ROOT) -> str:
    """The text of all files that match."""
    return "\n".join(path.read_text() for path in sorted(folder.glob(pattern)))


def section(text: str, title: str) -> str:
    """The text under a heading, up to the next of its level or above."""
    level = len(re.findall(r"#", title.partition(" ")[0]))
    return re.split(rf"\n#{{1,{level}}} ", text.split(f"\n{title}\n")[1])[0]


def first_column(text: str) -> list[str]:
    """The first cells of a section's tables, but for headings and rules."""
    cells = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    return [cell for cell in cells if cell and not cell.startswith("--")]


# A program's own help and hirc-run's are written by hand, and say `and hirc's own`.
@pytest.mark.parametrize(
    ("tool", "document"),
    [("hirc", "hirc.md"), ("hirc_opt", "hirc-opt.md"), ("hirc_run", "hirc-run.md")],
)
def test_the_help_and_the_document_have_the_same_options(tool: str, document: str) -> None:
    code = f"import sys; from hirc.tools.{tool} import main; sys.exit(main(['--help']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    usage = done.stdout.partition("examples:")[0]
    named = {word for word in _OPTION.findall(usage) if word not in ("-h", "--NAME")}
    if tool == "hirc_run":
        named = set(_OPTION.findall(usage.partition("and hirc's own")[0]))
    text = (_DOCS / document).read_text()
    assert named - set(_OPTION.findall(text)) == set()
    listed = {word for cell in first_column(text) for word in _OPTION.findall(cell)}
    levels = {f"-O{level}" for level in range(4)}
    assert {word for word in listed - levels if word.startswith("--")} - named - {"--PASS"} == set()


def test_hirc_run_hands_programs_every_option_that_they_take() -> None:
    text = (ROOT / "compiler" / "runtime" / "command_arguments.c").read_text()
    taken = set(re.findall(r'"(--[a-z]+)"', text))
    assert {"--input", "--print", "--seed"} <= taken
    handed = (
        *hirc_run_arguments._WITH_VALUE,  # pyright: ignore[reportPrivateUsage]
        *hirc_run_arguments._WITHOUT,  # pyright: ignore[reportPrivateUsage]
        *hirc_run_arguments._WEIGHTS,  # pyright: ignore[reportPrivateUsage]
    )
    assert taken - set(handed) == set()


def test_every_environment_variable_is_documented() -> None:
    patterns = [f"{name}/**/*.{suffix}" for name in _SOURCES for suffix in ("py", "c")]
    sources = "\n".join(map(read, patterns))
    read_by_code = {name.strip('"') for name in re.findall(r'"HIRC_[A-Z_]+"', sources)}
    documented = set(_VARIABLE.findall(read("*.md", _DOCS)))
    assert {"HIRC_CLANG", "HIRC_CPU_THREADS"} <= read_by_code
    assert read_by_code - documented == set()
    # Constants of C in the documents' examples are none.
    assert {name for name in documented - read_by_code if f'"{name}"' in sources} == set()


def test_the_architecture_lists_every_stage_in_order() -> None:
    stages = [*host_ir_stages(HostIrOptions()), *gpu_program_stages(GpuProgramOptions())]
    cells = first_column(section((_DOCS / "architecture.md").read_text(), "## Stages"))
    assert cells[1:] == [stage.name for stage in stages]


def test_the_architecture_names_every_package() -> None:
    text = section((_DOCS / "architecture.md").read_text(), "## Folders")
    folders = [path.parent.relative_to(ROOT) for path in ROOT.glob("[a-z]*/*/__init__.py")]
    missing = [
        str(folder)
        for folder in folders
        if folder.parts[0] in _SOURCES and not re.search(rf"\b{folder.name}\b", text)
    ]
    assert missing == []


def test_the_reference_of_host_ir_lists_every_pass_on_it() -> None:
    text = section((_DOCS / "host-ir.md").read_text(), "## Passes")
    own = [name for name in pass_names() if name.startswith("hir-")]
    assert [name for name in own if f"`{name}`" not in text] == []


def test_a_test_names_every_pass() -> None:
    text = read("test/**/*.mlir") + read("test/**/*.py")
    assert [
        name for name in pass_names() if not re.search(rf"(?<!\w)(?<!\w-){name}(?![\w-])", text)
    ] == []


def test_the_guide_for_contributors_names_files_that_are_there() -> None:
    text = re.sub(r"^```.*?^```$", "", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.M | re.S)
    named = re.findall(r"`((?:[\w]+/)*[\w]+\.(?:py|c|h|md|mlir)|(?:[\w]+/)+)`", text)
    folders = (*_SOURCES, "test", "docs", "examples")
    paths = (path for name in folders for path in (ROOT / name).rglob("*"))
    files = "\n".join(str(path.relative_to(ROOT)) for path in paths)
    examples = re.compile(r"NAME|FAMILY|FILE|some_name")
    missing = {
        name
        for name in named
        if not examples.search(name) and not re.search(rf"(^|/){re.escape(name)}", files, re.M)
    }
    assert missing == set()


def test_the_guide_for_contributors_names_code_that_is_there() -> None:
    text = re.sub(r"^```.*?^```$", "", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.M | re.S)
    sources = "\n".join(
        read(f"{name}/**/*.{kind}") for name in _SOURCES for kind in ("py", "c", "h")
    )
    named = set(re.findall(r"`@?([A-Za-z_]\w+)(?:\([^`]*)?`", text))
    examples = {"softplus", "hirc_NAME", "dialects", "pipelines", "compiler", "tools"}
    known = set(re.findall(r"\w+", sources))
    assert named - known - examples == set()


def test_the_guide_for_contributors_has_a_pass_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S
    )
    module = ModuleType("hirc.pipelines.passes.drop_double_negations")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.__dict__["__package__"] = "hirc.pipelines.passes"
    exec(code, module.__dict__)
    text = "func.func @f(%x: f32) -> f32 {\n"
    text += "%y = arith.negf %x : f32\n%z = arith.negf %y : f32\nreturn %z : f32 }"
    program = ir.Module.parse(text, Session().context)
    module.__dict__["DropDoubleNegations"]().run(program.operation)
    assert "return %arg0" in str(program)


def test_readme_leads_to_every_document() -> None:
    linked = set(re.findall(r"\]\(docs/([\w-]+\.md)", (ROOT / "README.md").read_text()))
    assert {path.name for path in _DOCS.glob("*.md")} - linked == set()
