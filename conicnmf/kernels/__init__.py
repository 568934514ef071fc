"""Compiled row kernels: plain arrays in, plain arrays out."""
