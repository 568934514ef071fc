"""From a problem to a result: the one outer loop, methods, starts, and cone programs."""
