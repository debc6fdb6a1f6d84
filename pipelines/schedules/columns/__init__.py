"""Columns: reductions along loops that are not the innermost in memory."""

from .schedule import alternatives

__all__ = ["alternatives"]
