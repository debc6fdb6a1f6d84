"""Tiles multiplied by small constant matrices."""
