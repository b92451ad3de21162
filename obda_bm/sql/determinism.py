"""SQL that may give other rows each time it runs."""

from __future__ import annotations

from sqlglot.tokenizer_core import TokenType

from obda_bm.diagnostics import Diagnostic, Span, SqlError
from obda_bm.sql.check import placed
from obda_bm.sql.syntax import find_dialect, tokenize

_CALLED = frozenset({"RANDOM", "RAND", "UUID", "GEN_RANDOM_UUID", "NEWID", "NOW", "GETDATE", "AGE"})
_BARE = frozenset({"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "SYSDATE"})
_BARE |= {"LOCALTIMESTAMP", "TABLESAMPLE", "LIMIT"}


def find_nondeterminism(text: str, span: Span | None) -> Diagnostic | None:
    """The first word in `text` that makes its rows depend on more than the tables, or None."""
    try:
        parsed = tokenize(placed(text, span), find_dialect(None))
    except SqlError:
        return None  # parsing reports it
    tokens = parsed.tokens
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        word = token.text.upper()
        called = following is not None and following.token_type is TokenType.L_PAREN
        if token.token_type is TokenType.STRING or token.token_type is TokenType.IDENTIFIER:
            continue
        if (called and word in _CALLED) or word in _BARE:
            message = f"{word} makes the rows differ from run to run"
            hint = "Remove it: what a mapping asserts must depend on the tables alone."
            return Diagnostic("OBM724", message, parsed.at(token.start, token.end + 1), hint)
    return None
