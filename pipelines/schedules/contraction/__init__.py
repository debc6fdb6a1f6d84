"""Sums of products: convolutions, and matrix products that no library computes."""

from .schedule import alternatives

__all__ = ["alternatives"]
