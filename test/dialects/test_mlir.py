"""An operation in a set or a dict is found as long as it lives."""

from __future__ import annotations

from hirc.dialects.mlir import context, ir

_TEXT = """
%a = "test.a"() : () -> i32
%b = "test.b"() : () -> i32
%c = "test.c"(%a) : (i32) -> i32
%d = "test.c"(%a) : (i32) -> i32
"""


def test_operations_as_keys() -> None:
    with context() as ctx:
        ctx.allow_unregistered_dialects = True
        module = ir.Module.parse(_TEXT)
        _, b, c, d = (op.operation for op in module.body)
        places = {c: "c", d: "d"}
        c.operands[0] = b.results[0]
        c.attributes["marked"] = ir.UnitAttr.get()
        d.move_before(c)
        assert places[c] == "c"
        assert places[d] == "d"
        assert b not in places
        # Whoever asks for it, and as what.
        assert hash(c.opview) == hash(c) == hash(c.results[0].owner)
        assert {op.operation for op in module.body} >= {b, c, d}
