"""--emit=graph and --emit=dot: pages that hold their data whole, and DOT that is well formed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hirc.compiler.options import Emit
from hirc.compiler.program_page import picture
from hirc.compiler.source import Source
from hirc.pipelines.program_graph.graph import Buffer, GraphProgram, Kernel, Step
from hirc.tools.hirc import main

_ODD = "</script><b>\"'\\ \n&amp; \u2028 \ud800"
_BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
_DOT_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|[{}\[\]=;,]|[\w]+', re.DOTALL)


class _Elements(HTMLParser):
    """The elements of a page, with the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts: list[str] = []
        self._is_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.update(name for name, _ in attrs)
        self.ids.update(value or "" for name, value in attrs if name == "id")
        self._is_script = tag == "script"
        if self._is_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._is_script = False

    def handle_data(self, data: str) -> None:
        if self._is_script:
            self.scripts[-1] += data


def many(count: int) -> GraphProgram:
    """A chain of kernels with odd names, in a loop from the second on."""
    size = ["*", 4, ["size", 0]]
    first = Step("kernel", _ODD, "/a b/net.py:1", "caller's", writes=[0], held=[size])
    loop = Step("loop", "for", "", held=[size])
    kernels = [
        Step(
            "kernel",
            f"kernel_{number}",
            "net.py:2",
            _ODD,
            parent=1,
            part="body",
            reads=[number],
            writes=[number + 1],
            work=[("net.py:2", ["arith.addf", _ODD])],
            kernels=[Kernel(_ODD, [128, 1, 1])],
            held=[["max", size, 12], ["+", 8, ["ceildiv", ["size", 0], 3]]],
        )
        for number in range(count - 1)
    ]
    end = count + 1
    buffers = [Buffer("buffer", _ODD, "n f32", size, n, min(n + 2, end - 1)) for n in range(end)]
    program = GraphProgram(_ODD, [first, loop, *kernels], buffers, ["n"])
    program.connect([set[int]() for _ in program.steps])
    return program


def rendered(programs: list[GraphProgram], emit: Emit = Emit.GRAPH) -> str:
    return picture(programs, Source(f"{_ODD}.mlir", b""), emit).decode()


def in_browser(page: str, folder: Path, script: str) -> str:
    """The document after a script at its end has run."""
    assert _BROWSER is not None
    file = folder / "page.html"
    file.write_text(f"{page}<script>{script}</script>")
    words = [_BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/u"]
    done = subprocess.run(
        [*words, "--dump-dom", f"file://{file}"], capture_output=True, timeout=60, check=True
    )
    return done.stdout.decode()


def check_dot(text: str) -> int:
    """Parses DOT, as far as it is written here; the number of nodes and edges."""
    tokens = _DOT_TOKEN.findall(text)
    assert re.sub(r"\s", "", _DOT_TOKEN.sub("", text)) == ""
    place = 0

    def take(*wanted: str) -> None:
        nonlocal place
        for one in wanted:
            found = tokens[place]
            assert re.fullmatch(one, found, re.DOTALL), f"{found!r} where {one} is expected"
            place += 1

    def attributes() -> None:
        take(r"\[")
        while tokens[place] != "]":
            take(r"\w+", "=", r'".*"|\w+')
            if tokens[place] == ",":
                take(",")
        take(r"\]", ";")

    take("digraph", '".*"', r"\{")
    depth, statements = 1, 0
    while depth:
        if tokens[place] == "}":
            take(r"\}")
            depth -= 1
        elif tokens[place] == "subgraph":
            take("subgraph", r"cluster_\w+", r"\{")
            depth += 1
        elif tokens[place] == "label":
            take("label", "=", '".*"', ";")
        else:
            take(r"\w+")
            if tokens[place] == "->":
                take("->", r"\w+")
            attributes()
            statements += 1
    assert place == len(tokens)
    return statements - 1


def test_a_page_holds_its_data_whole() -> None:
    program = many(5)
    page = rendered([program])
    elements = _Elements(page)
    data, script = elements.scripts
    expected = json.loads(json.dumps(asdict(program)).replace("\\ud800", "?"))
    assert json.loads(data)["programs"] == [expected]
    assert set(re.findall(r'\bat\("(\w+)"\)', script)) <= elements.ids
    assert not {"src", "href", "onclick"} & elements.attributes
    assert re.findall(r"https?://[^\"]*", page) == ["http://www.w3.org/2000/svg"]


def test_dot_is_well_formed(tmp_path: Path) -> None:
    text = rendered([many(5), many(2)], Emit.DOT)
    # 7 kernels, 2 loops; each kernel but the first reads what one before wrote.
    assert check_dot(text) == 7 + 2 + 5
    if shutil.which("dot") is not None:
        file = tmp_path / "x.dot"
        file.write_text(text)
        subprocess.run(["dot", "-Tsvg", "-o", "/dev/null", str(file)], check=True, timeout=60)


def test_the_command_writes_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.mlir").write_text(
        '"hir.program"() ({\n^bb0(%x: memref<4xf32>):\n'
        '  %y = "hir.unary"(%x) {kind = "neg"} : (memref<4xf32>) -> memref<4xf32>\n'
        '  "hir.output"(%y) {name = "y"} : (memref<4xf32>) -> ()\n'
        '}) {sym_name = "main", function_type = (memref<4xf32>) -> memref<4xf32>} : () -> ()\n'
    )
    assert main(["prog.mlir", "--emit=graph", "--offload-arch=sm_90"]) == 0
    assert main(["prog.mlir", "--emit=dot", "--offload-arch=cpu", "-o", "x.dot"]) == 0
    data = json.loads(_Elements(Path("prog.html").read_text()).scripts[0])
    assert data["name"] == "prog.mlir"
    assert data["lines"]["prog.mlir:3"].startswith('%y = "hir.unary"')
    assert 'label="negf\\nprog.mlir:3\\nstream: caller\'s"' in Path("x.dot").read_text()


@pytest.mark.skipif(_BROWSER is None, reason="there is no Chromium on PATH")
def test_a_browser_shows_a_thousand_kernels(tmp_path: Path) -> None:
    script = """
      const field = document.querySelector("#sizes input");
      field.value = 1024; field.oninput();
      at("search").value = "kernel_700"; at("search").oninput({type: "input"});
      at("search").onkeydown({type: "keydown", key: "Enter"});
      at("table").open = true; at("table").ontoggle();
      at("in").click();
    """
    shown = in_browser(rendered([many(1000)]), tmp_path, script)
    # 999 of the loop, its own, and the one before.
    assert len(re.findall(r'class="step ', shown)) == 1001
    assert "Peak memory: 4.00 KiB" in shown
    assert '<output id="count" class="soft">1 found</output>' in shown
    assert "<h2>kernel_700</h2>" in shown
    assert shown.count("<tr>") == 1002
    assert "<b>" not in shown.partition("<script")[0]
