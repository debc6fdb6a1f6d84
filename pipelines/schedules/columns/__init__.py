"""Columns: reductions along loops that are not the innermost in memory."""
