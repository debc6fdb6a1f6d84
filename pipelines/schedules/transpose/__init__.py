"""Operations whose operands lie across each other: tiles through shared memory."""

from .schedule import alternatives

__all__ = ["alternatives"]
