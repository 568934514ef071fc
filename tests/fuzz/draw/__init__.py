"""What cases are made of: data, models, terms, losses, and ways to solve."""
