"""Sums of products for few rows, which take as long as the other factor is read: a few tokens
times a weight.
"""
