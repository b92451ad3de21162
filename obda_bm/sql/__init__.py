"""SQL text -> the intermediate form, and back."""

from obda_bm.sql.check import parse_check
from obda_bm.sql.determinism import find_nondeterminism
from obda_bm.sql.parse import parse_sql
from obda_bm.sql.render import render_sql
from obda_bm.sql.view import parse_view

__all__ = ["find_nondeterminism", "parse_check", "parse_sql", "parse_view", "render_sql"]
