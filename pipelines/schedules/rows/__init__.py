"""Rows: reductions and normalizations along what lies together in memory."""
