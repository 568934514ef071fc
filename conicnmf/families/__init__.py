"""Problems and methods of their own on the common engine: one factor, sparse codes, autoencoders."""

import lazy_loader as _lazy_loader

__getattr__, __dir__, __all__ = _lazy_loader.attach(
    __name__, submodules=["autoencoders", "coding", "one_factor"]
)
