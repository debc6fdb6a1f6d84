"""A session that programs of one process share."""

from __future__ import annotations

import pytest

from hirc.compiler.session import Session, SharedSession
from hirc.dialects.mlir import ir


def test_programs_share_it() -> None:
    shared = SharedSession()
    with shared.lend(100) as first:
        ir.Module.parse("module {}", first.context)
    with shared.lend(100) as second:
        assert second is first


def test_one_that_failed_is_not_lent_again() -> None:
    shared = SharedSession()
    lent: list[Session] = []

    def fail() -> None:
        with shared.lend(1) as session:
            lent.append(session)
            raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"):
        fail()
    with shared.lend(1) as session:
        assert session is not lent[0]
        # Nor is one that is lent.
        with shared.lend(1) as other:
            assert other is not session


@pytest.mark.parametrize(("read", "most"), [(1, 64), (1 << 19, 3)])
def test_it_is_not_for_ever(read: int, most: int) -> None:
    shared = SharedSession()
    lent: list[Session] = []
    for _ in range(most):
        with shared.lend(read) as session:
            lent.append(session)
    assert 1 < len(set(map(id, lent))) < most
