"""Texts of queries -> what they say: STARQL with its conditions in normal form, and SPARQL."""

from obda_bm.syntax.format import format_starql
from obda_bm.syntax.macros import expand_document, expand_query
from obda_bm.syntax.monotone import NeedsWindow, Obstacle, is_monotone, monotone_union
from obda_bm.syntax.normalise import negation_normal_form
from obda_bm.syntax.parse import parse_starql
from obda_bm.syntax.safety import ranged_by_guards
from obda_bm.syntax.within_windows import within_windows

__all__ = ["NeedsWindow", "Obstacle", "expand_document", "expand_query", "format_starql"]
__all__ += ["is_monotone", "monotone_union", "negation_normal_form", "parse_starql"]
__all__ += ["ranged_by_guards", "within_windows"]
