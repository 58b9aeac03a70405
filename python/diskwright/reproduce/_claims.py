"""What a paper says of a value, and what a measured interval says to that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "sign only", "inconclusive", "fails", "not run"]

LEAST_SEEDS = 5
"""Runs without which nothing is said of a value that varies."""

_TOLERANCE = 0.25


@dataclass(frozen=True, slots=True)
class Claim:
    """A value, or a bound."""

    kind: Literal["near", "above", "below"]
    value: float

    def __str__(self) -> str:
        return f"{self.value:,.6g}" if self.kind == "near" else f"{self.kind} {self.value:,.6g}"

    def in_results(self) -> float | str:
        """As results have it: a value is a number, a bound a text."""
        return self.value if self.kind == "near" else str(self)

    def verdict(self, interval: Sequence[float]) -> Verdict:
        """By the interval of 95 % confidence of what was measured.

        `holds` where it lies beyond the bound, or within 25 % of the value; else `sign only` where it lies
        on the value's side of zero; else `inconclusive` where the bound, or zero, is in it; else `fails`. A
        bound has no sign: what lies on its wrong side fails.
        """
        low, high = interval
        if self.kind == "near":
            ends = (self.value * (1 - _TOLERANCE), self.value * (1 + _TOLERANCE))
            if min(ends) <= low and high <= max(ends):
                return "holds"
            if (low > 0 and self.value > 0) or (high < 0 and self.value < 0):
                return "sign only"
            return "inconclusive" if low <= 0 <= high else "fails"
        if low > self.value if self.kind == "above" else high < self.value:
            return "holds"
        return "inconclusive" if low <= self.value <= high else "fails"


def near(value: float) -> Claim:
    """The paper has this value; 25 % to either side is as good."""
    return Claim("near", value)


def above(value: float) -> Claim:
    """The paper has more than this."""
    return Claim("above", value)


def below(value: float) -> Claim:
    """The paper has less than this."""
    return Claim("below", value)
