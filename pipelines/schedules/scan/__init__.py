"""Running reductions along one loop."""

from .schedule import alternatives

__all__ = ["alternatives"]
