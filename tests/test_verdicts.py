"""Are statements judged by the rule, on both sides of each of its edges?"""

from collections.abc import Callable, Sequence
from math import inf, nextafter, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskwright import _engine
from diskwright.reproduce import Run, Worst, above, below, near
from diskwright.reproduce._claims import Claim, Verdict
from diskwright.reproduce._reproduced import measured

UP, DOWN = inf, -inf


def next_to(value: float, towards: float) -> float:
    return nextafter(value, towards)


@pytest.mark.parametrize(
    ("claim", "low", "high", "verdict"),
    [
        # The value and 25 % to either side, ends included.
        (near(0.4), 0.4 * 0.75, 0.4 * 1.25, "holds"),
        (near(0.4), next_to(0.4 * 0.75, DOWN), 0.4, "sign only"),
        (near(0.4), 0.4, next_to(0.4 * 1.25, UP), "sign only"),
        (near(0.4), 9, 10, "sign only"),
        (near(0.4), next_to(0, UP), 0.1, "sign only"),
        (near(0.4), 0, 0.1, "inconclusive"),
        (near(0.4), -0.1, 10, "inconclusive"),
        (near(0.4), -0.1, 0, "inconclusive"),
        (near(0.4), -0.1, next_to(0, DOWN), "fails"),
        # A value below zero, the other way round.
        (near(-0.4), -0.4 * 1.25, -0.4 * 0.75, "holds"),
        (near(-0.4), next_to(-0.4 * 1.25, DOWN), -0.4, "sign only"),
        (near(-0.4), -0.4, next_to(-0.4 * 0.75, UP), "sign only"),
        (near(-0.4), -0.1, 0, "inconclusive"),
        (near(-0.4), next_to(0, UP), 0.1, "fails"),
        # Zero has neither a side nor a quarter.
        (near(0), 0, 0, "holds"),
        (near(0), -1e-300, 0, "inconclusive"),
        (near(0), 1e-300, 1, "fails"),
        (near(0), -1, -1e-300, "fails"),
        # A bound is not reached by touching it.
        (above(1), next_to(1, UP), 2, "holds"),
        (above(1), 1, 2, "inconclusive"),
        (above(1), 0, 1, "inconclusive"),
        (above(1), 1, 1, "inconclusive"),
        (above(1), 0, next_to(1, DOWN), "fails"),
        (below(1), 0, next_to(1, DOWN), "holds"),
        (below(1), 0, 1, "inconclusive"),
        (below(1), 1, 2, "inconclusive"),
        (below(1), next_to(1, UP), 2, "fails"),
        (above(0), next_to(0, UP), 1, "holds"),
        (above(0), -1, next_to(0, DOWN), "fails"),
        (below(0), -1, next_to(0, DOWN), "holds"),
    ],
)
def test_each_side_of_each_edge(claim: Claim, low: float, high: float, verdict: Verdict) -> None:
    assert claim.verdict((low, high)) == verdict


numbers = st.floats(-1e6, 1e6)


@given(numbers, numbers, numbers)
def test_what_is_turned_round_is_judged_alike(value: float, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert near(value).verdict((low, high)) == near(-value).verdict((-high, -low))
    assert above(value).verdict((low, high)) == below(-value).verdict((-high, -low))


@given(numbers, numbers, numbers, st.floats(0, 1e6))
def test_a_wider_interval_never_says_more(value: float, low: float, high: float, more: float) -> None:
    low, high = sorted((low, high))
    for claim in (near(value), above(value), below(value)):
        if claim.verdict((low - more, high + more)) == "holds":
            assert claim.verdict((low, high)) == "holds"


def test_claims_say_what_they_are() -> None:
    claims = near(0.21), above(0), below(1.5)
    assert [claim.in_results() for claim in claims] == [0.21, "above 0", "below 1.5"]


def test_intervals_are_students() -> None:
    # The 97.5 % quantile of t with four degrees of freedom: 2.776445 (any table).
    values = [1.0, 2.0, 3.0, 4.0, 10.0]
    mean = 4.0
    half = 2.776445105 * sqrt(sum((value - mean) ** 2 for value in values) / 4 / 5)
    low, high = _engine.ci95(values) or (0, 0)
    assert (low, high) == pytest.approx((mean - half, mean + half), rel=1e-8)
    assert _engine.ci95([1.0]) is None


def test_the_worst_place_is_the_same_for_all_seeds() -> None:
    # Which is largest differs from seed to seed; the mean is largest at b, and furthest from 0 at c.
    seeds = [
        {"run": {"a": 9.0, "b": 5.0, "c": -9.0}},
        {"run": {"a": 0.0, "b": 6.0, "c": -8.0}},
        {"run": {"a": 0.0, "b": 5.0, "c": 7.0}},
        {"run": {"a": 0.0, "b": 5.0, "c": -20.0}},
    ]
    work = {"run": Run({})}

    def found(key: Callable[[float], float]) -> Sequence[float | None]:
        def measure(runs: Any) -> Worst:
            return Worst({place: runs["run"][place] for place in "abc"}, key)

        return measured(measure, work, seeds, "the worst").values

    assert found(float) == [5, 6, 5, 5]
    assert found(abs) == [-9, -8, 7, -20]
    assert found(lambda value: -value) == [-9, -8, 7, -20]
