"""Blocks as convex programs: cone programs compiled once, tangent planes, and a native engine."""
