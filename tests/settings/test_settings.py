"""The annotation of a field is its rule: one mechanism reads, checks and answers."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.extend import Penalty
from conicnmf.settings import Count, Limit, Reads, Rule, Settings, Share, checks_arguments


def doubled(value: Any, name: str) -> Any:
    if value is None:
        raise cn.InputError(f"{name} must be something, got nothing; give a number")
    return 2 * value


@dataclass(frozen=True)
class Walk(Settings):
    steps: Count = 3
    length: Share = 0.5
    limit: Limit = np.inf
    word: Literal["slow", "fast"] = "slow"
    back: bool = False
    name: str = ""
    turn: Callable[[float], float] | None = None
    stops: tuple[cn.MaxIter, ...] = ()
    size: tuple[Count, Share] | None = None
    named: dict[str, int] = field(default_factory=dict, hash=False)
    even: Annotated[int, Rule("that is even", lambda n: n % 2 == 0, "try 2")] = 0
    twice: Annotated[Any, Reads(doubled)] = 1
    free: Any = None
    made: int = field(default=0, init=False)

    def check_settings(self) -> None:
        fits = self.steps * self.length <= 4
        self.require(fits, "steps · length <= 4", "steps", "length", remedy="walk less")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"steps": 0}, "steps to be a whole number >= 1, got steps=0; the default is 3"),
        ({"steps": 2.0}, "steps=2.0"),
        ({"steps": True}, "steps=True"),
        ({"steps": 2**70}, "steps=1180591620717411303424"),
        ({"length": "x"}, "length to be a finite number from 0 to 1, got length='x'"),
        ({"length": np.nan}, "length=nan"),
        ({"limit": 10**400}, "limit to be a number > 0, got limit=1000"),
        ({"limit": 0}, "got limit=0; use inf for none"),
        ({"word": "x"}, "one of 'slow', 'fast', got word='x'; the default is 'slow'"),
        ({"word": np.array(["slow", "fast"])}, "got word=an array of shape (2,)"),
        ({"back": 1}, "True or False, got back=1"),
        ({"name": 3}, "a text, got name=3"),
        ({"turn": 3}, "a function or None, got turn=3; the default is None"),
        ({"stops": cn.MaxIter(1)}, "a tuple with a MaxIter in each place, got stops=MaxIter"),
        ({"stops": (3,)}, "got stops=(3,)"),
        (
            {"size": (0, 1)},
            "a tuple (a whole number >= 1, a finite number from 0 to 1) or None, got",
        ),
        ({"size": (1, 1, 1)}, "got size=(1, 1, 1); the default is None"),
        (
            {"named": {"a": "b"}},
            "a dict with a whole number under each name, got named={'a': 'b'};",
        ),
        ({"even": 3}, "a whole number that is even, got even=3; try 2"),
        ({"twice": None}, "Walk twice must be something, got nothing; give a number"),
        ({"steps": 9, "length": 1.0}, "Walk needs steps · length <= 4, got steps=9, length=1.0;"),
        ({"stepz": 9}, "Walk has no setting stepz; did you mean steps?"),
        ({"max_iter": 9}, "Walk has no setting max_iter; stop=100 goes to solve; it has steps,"),
    ],
)
def test_a_broken_rule_is_answered_with_rule_value_and_remedy(settings, says):
    with pytest.raises(cn.InputError) as caught:
        Walk(**settings)
    assert says in str(caught.value)
    assert str(caught.value).startswith("Walk ")


def test_values_are_kept_in_plain_form():
    walk = Walk(np.int32(2), np.float32(0.5), np.array(3.0), back=np.True_, stops=[cn.MaxIter(1)])
    assert (walk.steps, walk.length, walk.limit, walk.back) == (2, 0.5, 3.0, True)
    assert [type(v) for v in (walk.steps, walk.length, walk.limit, walk.back)] == [
        *(int, float, float, bool)
    ]
    assert walk.stops == (cn.MaxIter(1),)
    assert walk.twice == 2
    assert type(Walk(word=np.array(["fast"])[0]).word) is str


def test_settings_stay_ordinary_frozen_dataclasses():
    walk = Walk(2, 0.25, name="x")
    assert pickle.loads(pickle.dumps(walk)) == copy.deepcopy(walk) == walk
    assert hash(walk) == hash(copy.copy(walk))
    assert replace(walk, steps=np.int64(4), twice=1).steps == 4
    with pytest.raises(cn.InputError, match="steps=0"):
        replace(walk, steps=0)
    assert list(inspect.signature(Walk).parameters)[:2] == ["steps", "length"]
    assert "steps" in str(inspect.signature(Walk))
    with pytest.raises(TypeError):  # too many settings are Python's own to answer
        Walk(*range(20))


def test_terms_of_others_are_checked_too():
    @dataclass(frozen=True)
    class Power(Penalty):
        weight: int

    with pytest.raises(cn.InputError, match="Power needs weight to be a whole number, got"):
        Power(0.5)  # type: ignore[arg-type]


def test_a_class_whose_annotation_names_nothing_that_is_there_is_left_alone():
    @dataclass(frozen=True)
    class Odd(Settings):
        thing: Nowhere = 1  # type: ignore[name-defined]  # noqa: F821

    assert Odd("x").thing == "x"


@checks_arguments
def march(steps: Count, *, seed: int = 0, stop: Any = None, **options: Any) -> Any:
    """March."""
    return steps, seed, stop, options


def test_arguments_of_a_door_are_checked_like_settings():
    assert march(np.int64(2), init=3) == (2, 0, None, {"init": 3})
    assert type(march(np.int64(2))[0]) is int
    assert march.__doc__ == "March."
    with pytest.raises(cn.InputError, match="march needs steps to be a whole number >= 1, got st"):
        march(0)
    with pytest.raises(cn.InputError, match="march has no argument random_state; write seed=0"):
        march(2, random_state=3)
    with pytest.raises(cn.InputError, match="march has no argument max_iter; write stop=100"):
        march(2, max_iter=3)
    with pytest.raises(TypeError, match="march"):
        march()  # type: ignore[call-arg]


def test_a_value_without_a_text_is_named_by_its_kind():
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError("no text")

    with pytest.raises(cn.InputError, match="got steps=Silent, which has no text; the default is"):
        Walk(steps=Silent())
