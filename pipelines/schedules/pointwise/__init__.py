"""Operations every iteration of which gives elements of the outputs by itself."""

from .schedule import alternatives

__all__ = ["alternatives"]
