"""Reductions over small windows."""

from .schedule import alternatives

__all__ = ["alternatives"]
