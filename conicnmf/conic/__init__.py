"""Second-order cones, and blocks as convex programs."""
