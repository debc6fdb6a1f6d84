"""Reductions over small windows."""
