"""STARQL text to a document, and back."""

from obda_bm.syntax.format import format_starql
from obda_bm.syntax.macros import expand_document, expand_query
from obda_bm.syntax.parse import parse_starql
from obda_bm.syntax.safety import ranged_by_guards

__all__ = ["expand_document", "expand_query", "format_starql", "parse_starql", "ranged_by_guards"]
