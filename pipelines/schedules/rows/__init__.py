"""Rows: reductions and normalizations along what lies together in memory."""

from .schedule import alternatives

__all__ = ["alternatives"]
