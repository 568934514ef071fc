"""Units of variables: powers of two whose products are the unit of the data in every model."""

from __future__ import annotations


def share_units(shape, normed, exponent):
    """Return the exponent of each variable's unit; all zero where norms of one leave no freedom.

    The exponent of the data is a multiple of six, so that one, two or three variables share it
    evenly. `normed` are the variables whose components have norm one.
    """
    found = dict.fromkeys(normed, 0)
    for model in shape.models:
        for product in model.products:
            names = [own for symbol in product if (own := _name(symbol)) in shape.variables]
            free = [name for name in names if name not in found]
            rest = exponent - sum(found[name] for name in names if name in found)
            if (rest and not free) or (free and rest % len(free)):
                return dict.fromkeys(shape.variables, 0)
            found |= dict.fromkeys(free, rest // len(free) if free else 0)
    return found


def _name(symbol):
    return symbol.removesuffix(".T").split("*")[-1]
