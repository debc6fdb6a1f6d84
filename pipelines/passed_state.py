"""State that callers pass: it becomes inputs, by the states' names, which programs write to."""

from __future__ import annotations

import json
from typing import Any

from ..dialects.mlir import ir
from .attributes import entries_of
from .body_names import CALLING
from .updates import attributes_of
from .weights import MARK, STATE_MARK, ZERO_MARK

_NAME = "hir.name"


def pass_state(module: ir.Operation) -> None:
    """Makes an input of every state of a module's functions and programs.

    How a model is called, in Python, has one parameter more: `state`, a dict of tensors by name.
    """
    for child in module.regions[0].blocks[0]:
        op = child.operation
        if op.name == "func.func":
            _pass_arguments(op)
        elif op.name == "hir.program" and "inputs" in op.attributes:
            described = [entries_of(each) for each in ir.ArrayAttr(op.attributes["inputs"])]
            names = {each["name"] for each in described if "name" in each}
            for entries in described:
                if "state" in entries:
                    entries["name"] = _free(entries.pop("state"), names)
                    entries.pop("zero_init", None)
                    entries["written"] = ir.UnitAttr.get(module.context)
            with module.context:
                op.attributes["inputs"] = ir.ArrayAttr.get(
                    [ir.DictAttr.get(entries) for entries in described]
                )


def _pass_arguments(function: ir.Operation) -> None:
    arguments = [dict(each) for each in attributes_of(function, "arg_attrs")]
    names = {each[_NAME] for each in arguments if _NAME in each}
    states: list[list[Any]] = []
    count = 0
    for entries in arguments:
        name = entries.pop(STATE_MARK, None)
        if name is not None:
            entries.pop(ZERO_MARK, None)
            entries[_NAME] = _free(name, names)
            states.append([ir.StringAttr(name).value, {"tensor": count}])
        count += MARK not in entries
    if not states:
        return
    with function.context:
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [ir.DictAttr.get(entries) for entries in arguments]
        )
        if CALLING in function.attributes:
            data = json.loads(ir.StringAttr(function.attributes[CALLING]).value)
            _add_parameter(data, states)
            function.attributes[CALLING] = ir.StringAttr.get(json.dumps(data))


def _add_parameter(data: dict[str, Any], states: list[list[Any]]) -> None:
    name = "state"
    while any(each["name"] == name for each in data["parameters"]):
        name += "_"
    rest = [each for each in data["parameters"] if each["kind"] == "VAR_KEYWORD"]
    others = [each for each in data["parameters"] if each["kind"] != "VAR_KEYWORD"]
    data["parameters"] = [*others, {"name": name, "kind": "KEYWORD_ONLY"}, *rest]
    data["inputs"][name] = {"dict": states}


def _free(name: ir.Attribute, names: set[ir.Attribute]) -> ir.Attribute:
    """Returns a name that no other input has."""
    with name.context:
        while name in names:
            name = ir.StringAttr.get(ir.StringAttr(name).value + "_")
    names.add(name)
    return name
