"""STARQL text to a document, and back."""

from obda_bm.syntax.parse import parse_starql

__all__ = ["parse_starql"]
