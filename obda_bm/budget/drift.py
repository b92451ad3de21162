"""Noticing that a model no longer fits: the Page–Hinkley test on its surprise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageHinkley:
    """The excess of losses over their mean so far, and its lowest point.

    It alarms when the excess has risen by `limit`; `slack` per step is forgiven ([Page54]). The
    lowest point is then the likeliest time of the change.
    """

    limit: float = 40.0
    slack: float = 0.25
    count: int = 0
    mean: float = 0.0
    excess: float = 0.0
    lowest: float = 0.0
    since_lowest: int = 0

    @property
    def alarm(self) -> bool:
        return self.excess - self.lowest > self.limit

    def after(self, loss: float) -> PageHinkley:
        """The test after one more loss.

        >>> test = PageHinkley(limit=5)
        >>> for loss in [1, 1, 1, 1] * 5: test = test.after(loss)
        >>> test.alarm, test.after(8).alarm
        (False, True)
        """
        count = self.count + 1
        mean = self.mean + (loss - self.mean) / count
        excess = self.excess + loss - mean - self.slack
        lowest = min(self.lowest, excess)
        since = self.since_lowest + 1 if excess > lowest else 0
        return PageHinkley(self.limit, self.slack, count, mean, excess, lowest, since)
