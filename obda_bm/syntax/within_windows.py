"""A window that moves with every marker, as comparisons between the states of a query."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from obda_bm.diagnostics import Span
from obda_bm.ir.rdf import Variable
from obda_bm.ir.starql import StarqlQuery, Window
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import ConjunctiveQuery, TermComparison, UnionOfCQs
from obda_bm.syntax.monotone import NeedsWindow, Obstacle


def within_windows(union: UnionOfCQs, query: StarqlQuery) -> UnionOfCQs | NeedsWindow:
    """`union` with all its states in one window, or why windows have to be evaluated one by one.

    There is a time at which all states are in `[NOW - d, NOW]` exactly if no two of them are more
    than `d` apart: the time of the last one.
    """
    windows = {stream.window for stream in query.streams}
    window = windows.pop()
    if windows:
        return NeedsWindow(Obstacle.SEVERAL_WINDOWS, query.streams[1].span)
    if query.pulse is not None or (window is not None and _slides(window)):
        return NeedsWindow(Obstacle.SLIDE, window.span if window else query.span)
    if window is None:
        return union
    near = (_near(disjunct, window.begin.microseconds, window.span) for disjunct in union.disjuncts)
    return replace(union, disjuncts=tuple(near))


def _slides(window: Window) -> bool:
    return window.slide is not None or window.end.microseconds != 0


def _near(query: ConjunctiveQuery, age: int, span: Span | None) -> ConjunctiveQuery:
    states = sorted({atom.state for atom in query.body if atom.state is not None})
    near = [_not_later(i, j, age, span) for i, j in permutations(states, 2)]
    return replace(query, comparisons=(*query.comparisons, *near))


def _not_later(i: Variable, j: Variable, age: int, span: Span | None) -> TermComparison:
    return TermComparison(i, Op.LE, j, age, span)
