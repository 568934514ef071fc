"""What a result should say, by NumPy code that shares nothing with the package."""
