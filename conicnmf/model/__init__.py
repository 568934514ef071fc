"""Problems as stated: losses, penalties, constraints, and CVXPY expressions read into them."""
