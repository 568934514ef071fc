"""Problems and methods of their own on the common engine: one factor, sparse codes, autoencoders."""
