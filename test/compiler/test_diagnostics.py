"""Errors as a person reads them: clang's form."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.compiler.diagnostics import parse_error, stage_error
from hirc.compiler.errors import InputError, InternalError, Note, Position, UnsupportedError
from hirc.compiler.rendering import render
from hirc.compiler.session import Diagnostic

_HERE = Position("prog.mlir", 2, 3)


def test_plain_message() -> None:
    assert render(InputError("no input files")) == "hirc: error: no input files"
    assert render(InputError("wrong", hint="do right")) == "hirc: error: wrong\nhint: do right"


def test_position_line_and_caret() -> None:
    text = "first\n  second line\n"
    assert render(InputError("wrong", Position("prog.mlir", 2, 10)), {"prog.mlir": text}) == (
        "prog.mlir:2:10: error: wrong\n      second line\n             ^"
    )


def test_caret_keeps_tabs() -> None:
    rendered = render(InputError("wrong", Position("p", 1, 3)), {"p": "\t\tx"})
    assert rendered.splitlines()[1:] == ["    \t\tx", "    \t\t^"]


def test_line_that_is_not_there() -> None:
    error = InputError("wrong", Position("p", 9, 1))
    assert render(error, {"p": "one line"}) == "p:9:1: error: wrong"
    assert render(InputError("wrong", Position("nowhere", 1, 1))) == "nowhere:1:1: error: wrong"
    assert render(InputError("wrong", Position("p", 0, 0)), {"p": "x"}) == "p: error: wrong"
    assert (
        render(InputError("wrong", Position("p", 1, 1)), {"p": "\x00\x01"}) == "p:1:1: error: wrong"
    )


def test_a_file_is_read_where_no_source_is_given(tmp_path: Path) -> None:
    path = tmp_path / "prog.mlir"
    path.write_text("only line\n")
    assert "    only line\n    ^" in render(InputError("wrong", Position(str(path), 1, 1)))


@pytest.mark.parametrize("name", ["a\0b", "/dev/zero", "/"])
def test_what_is_named_in_a_location_may_be_no_file(name: str) -> None:
    error = InputError("unknown type", position=Position(name, 1, 1))
    assert render(error, {}) == f"{name}:1:1: error: unknown type".replace("\0", "\\x00")


def test_a_terminal_is_told_nothing() -> None:
    error = InputError("no 'a\x1b[2Jb\r'", notes=[Note("c\x9bd\n\te")], hint="f\x7f")
    assert render(error) == (
        "hirc: error: no 'a\\x1b[2Jb\\x0d'\nhirc: note: c\\x9bd\n\te\nhint: f\\x7f"
    )


def test_context_and_notes() -> None:
    error = InputError(
        "wrong",
        _HERE,
        op="gpu.wait",
        stage="device",
        hint="do right",
        notes=[Note("see there", Position("other", 1, 1)), Note("in general")],
    )
    assert render(error).splitlines() == [
        "prog.mlir:2:3: error: wrong",
        "  in op 'gpu.wait', stage 'device'",
        "other:1:1: note: see there",
        "hirc: note: in general",
        "hint: do right",
    ]


def test_an_op_is_not_named_twice() -> None:
    error = InputError("'gpu.wait' op is wrong", op="gpu.wait", stage="device")
    assert "op 'gpu.wait'" not in render(error).partition("\n")[2]


def test_stage_error_of_an_op_that_is_wrong() -> None:
    error = stage_error([Diagnostic("error", "'a.b' op is wrong", _HERE)], "device", "some-pass")
    assert isinstance(error, InputError)
    assert (error.op, error.stage, error.position) == ("a.b", "device", _HERE)


def test_stage_error_of_what_has_no_lowering() -> None:
    message = "failed to legalize operation 'a.b' that was explicitly marked illegal"
    notes = (Note("see current operation: ..."), Note("because"))
    found = [Diagnostic("error", message, _HERE, notes)]
    error = stage_error(found, "device", "some-pass")
    assert isinstance(error, UnsupportedError)
    assert error.message == "'a.b' cannot be lowered here"
    assert error.op == "a.b"
    assert "pass 'some-pass' has no rule for it" in (error.hint or "")
    assert [note.message for note in error.notes] == ["because"]


def test_further_errors_become_notes_and_warnings_do_not_count() -> None:
    found = [
        Diagnostic("warning", "hm", _HERE),
        Diagnostic("error", "first", _HERE),
        Diagnostic("error", "second", None),
    ]
    error = stage_error(found, "host", "p")
    assert error.message == "first"
    assert [note.message for note in error.notes] == ["second"]


def test_a_pass_that_fails_without_a_word_is_our_bug() -> None:
    error = stage_error([], "host", "some-pass")
    assert isinstance(error, InternalError)
    assert error.message == "pass 'some-pass' failed and said nothing"


def test_parse_error_has_a_position() -> None:
    error = parse_error([Diagnostic("error", "wrong", None)], "prog.mlir")
    assert error.position == Position("prog.mlir", 1, 1)
    assert error.stage == "parse"


def test_parse_error_of_an_unknown_dialect_names_no_option_of_mlir() -> None:
    message = "operation being parsed with an unregistered dialect. Use -allow-unregistered-dialect"
    error = parse_error([Diagnostic("error", message, _HERE)], "prog.mlir")
    assert error.message == "operation of a dialect that hirc does not know"


def test_long_messages_are_shortened() -> None:
    rendered = render(stage_error([Diagnostic("error", "x" * 5000, _HERE)], "host", "p"))
    assert len(rendered) < 1000
    assert " ..." in rendered
