"""Sums of products: convolutions, and matrix products that no library computes."""
