"""Compiled inner loops: least squares, component-wise sweeps, pursuit, encoders."""
