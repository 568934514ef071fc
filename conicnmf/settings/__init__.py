"""Settings and arguments: the annotation of a field is its rule, and one place checks them all.

Write `sweeps: Count = 3` in a dataclass of a `Settings`, or in a function that is decorated
with `checks_arguments`.
"""

from conicnmf.settings.base import InitSignature, Settings, checked, listed, shown
from conicnmf.settings.checked_arguments import check_parameters, checks_arguments
from conicnmf.settings.kinds import is_mapping
from conicnmf.settings.rules import (
    AS_GIVEN,
    Count,
    Exponent,
    Jobs,
    Limit,
    Number,
    Place,
    Positive,
    Reads,
    Rule,
    Seconds,
    Share,
    Weight,
    Whole,
    above,
    at_least,
    between,
)

__all__ = [
    "AS_GIVEN",
    "Count",
    "Exponent",
    "InitSignature",
    "Jobs",
    "Limit",
    "Number",
    "Place",
    "Positive",
    "Reads",
    "Rule",
    "Seconds",
    "Settings",
    "Share",
    "Weight",
    "Whole",
    "above",
    "at_least",
    "between",
    "check_parameters",
    "checked",
    "checks_arguments",
    "is_mapping",
    "listed",
    "shown",
]
