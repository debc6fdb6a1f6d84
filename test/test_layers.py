"""The order of the packages: what a module imports is of its own layer, or of one below."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from support.environment import ROOT

# From bottom to top. A folder's modules are of its layer unless a line here names them; a name that
# ends with a slash is a folder.
_LAYERS = (
    ("dialects/",),
    # What all passes share; of the folders below pipelines none but those of other lines.
    ("pipelines/",),
    # How host code is written.
    (
        "pipelines/host/",
        "pipelines/device_variable",
        "pipelines/fill_pattern",
        "pipelines/shared_buffers",
        "pipelines/shared_tiles",
    ),
    ("pipelines/fusion/",),
    ("pipelines/hir/",),
    ("pipelines/mesh/",),
    ("pipelines/schedules/",),
    ("pipelines/products/", "pipelines/convolutions/"),
    ("pipelines/overlap/",),
    ("pipelines/contractions/",),
    ("pipelines/attention/",),
    ("pipelines/passes/",),
    (
        "pipelines/gpu_program",
        "pipelines/host_ir",
        "pipelines/program_check",
        "pipelines/program_graph/",
    ),
    ("compiler/",),
    ("frontends/",),
    ("tools/",),
)
# Imports that point upwards: where a model of torch is given, and nowhere else, its frontend is
# loaded.
_UPWARDS = {
    ("compiler/compile_program", "frontends/torch/model_source"),
    ("compiler/source", "frontends/torch/read_model"),
}


def test_every_import_points_downwards() -> None:
    modules = [path.relative_to(ROOT).with_suffix("") for path in _sources()]
    names = {str(module) for module in modules}
    found = {
        (str(module), imported)
        for module in modules
        for imported in _imports(module, (ROOT / module).with_suffix(".py").read_text(), names)
        if _layer(imported) > _layer(str(module))
    }
    assert found == _UPWARDS


def test_every_folder_of_the_pipelines_has_a_layer() -> None:
    named = {name for layer in _LAYERS for name in layer}
    folders = {
        f"pipelines/{path.parent.name}/" for path in (ROOT / "pipelines").glob("*/__init__.py")
    }
    assert folders <= named
    assert all((ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file() for name in named)


def test_an_import_upwards_is_found() -> None:
    names = {"pipelines/hir/extents", "pipelines/schedules/size", "pipelines/rewriting"}
    text = """
from ..rewriting import constant

def late():
    from ..schedules import size
"""
    imported = list(_imports(Path("pipelines/hir/extents"), text, names))
    assert imported == ["pipelines/rewriting", "pipelines/schedules/size"]
    layers = [_layer(name) for name in ("pipelines/rewriting", "pipelines/hir/extents")]
    assert layers == sorted(layers)
    assert _layer("pipelines/schedules/size") > layers[1]


def _sources() -> Iterator[Path]:
    for layer in ("dialects", "pipelines", "compiler", "frontends", "tools"):
        yield from sorted((ROOT / layer).rglob("*.py"))


def _layer(module: str) -> int:
    """Returns the number of a module's layer: that of the longest name that it begins with."""
    fitting = [
        (len(name), number)
        for number, names in enumerate(_LAYERS)
        for name in names
        if module == name or f"{module}/".startswith(name if name.endswith("/") else f"{name}/")
    ]
    return max(fitting)[1]


def _imports(module: Path, text: str, names: set[str]) -> Iterator[str]:
    """Yields the modules of the project that a module imports, relatively or as `hirc`'s."""
    package = module.parent
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom):
            continue
        path = (node.module or "").split(".") if node.module else []
        if node.level:
            here = list(package.parts)
            path = here[: len(here) - node.level + 1] + path
        elif path[:1] == ["hirc"]:
            path = path[1:]
        else:
            continue
        for alias in node.names:
            inner = "/".join([*path, alias.name])
            outer = "/".join(path)
            found = inner if inner in names else outer
            if found in names or f"{found}/__init__" in names:
                yield found
