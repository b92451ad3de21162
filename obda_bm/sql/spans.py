"""Where in the user's text a syntax node was read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from obda_bm.diagnostics import SourceText, Span

Extent = tuple[int, int]
"""The first and the last token of a node."""

_INSTANTS = frozenset({"DATE", "TIMESTAMP", "DATETIME", "TIMESTAMPTZ", "TIME", "ZONE", "WITH"})
_JOINS = frozenset(
    {"NATURAL", "LEFT", "RIGHT", "FULL", "OUTER", "INNER", "CROSS", "SEMI", "ANTI", "ASOF", "ANY"}
)

_BEFORE: dict[type[exp.Expr], frozenset[str]] = {
    exp.Not: frozenset({"NOT"}),
    exp.Neg: frozenset({"-"}),
    exp.Exists: frozenset({"EXISTS"}),
    exp.Any: frozenset({"ANY", "SOME"}),
    exp.All: frozenset({"ALL"}),
    exp.Case: frozenset({"CASE"}),
    exp.Interval: frozenset({"INTERVAL"}),
    exp.Cast: _INSTANTS,
    exp.TryCast: _INSTANTS,
    exp.Join: _JOINS,
    exp.Lateral: frozenset({"LATERAL"}),
    exp.Unnest: frozenset({"UNNEST"}),
    exp.Values: frozenset({"VALUES"}),
    exp.Group: frozenset({"GROUP BY"}),
    exp.Having: frozenset({"HAVING"}),
    exp.Order: frozenset({"ORDER BY"}),
    exp.Limit: frozenset({"LIMIT"}),
    exp.Fetch: frozenset({"FETCH", "FIRST", "NEXT"}),
    exp.Offset: frozenset({"OFFSET"}),
    exp.Qualify: frozenset({"QUALIFY"}),
    exp.Distinct: frozenset({"DISTINCT", "ON"}),
    exp.With: frozenset({"RECURSIVE", "WITH"}),
    exp.Parameter: frozenset({"@", "$"}),
    exp.Placeholder: frozenset({":"}),
    exp.TableSample: frozenset({"TABLESAMPLE", "SAMPLE", "BERNOULLI", "SYSTEM"}),
    exp.Pivot: frozenset({"PIVOT", "UNPIVOT"}),
}


def mark_positions(tokens: Sequence[Token]) -> None:
    """Write the number of each token into its comments.

    The parser records where names and literals stand, but not TRUE, NULL, operators or keywords.
    It does hand the comments of a token on to the node that it builds from it, so a comment can
    carry the position.
    """
    for number, token in enumerate(tokens):
        separates = token.token_type in (TokenType.COMMA, TokenType.SEMICOLON)
        token.comments[:] = [] if separates else [str(number)]


@dataclass(frozen=True, slots=True)
class SqlText:
    """SQL, its tokens, and the user's file in which it stands.

    `base` is where the SQL starts in `source`. Where it is not literally there (an escaped
    string in a TOML file), `whole` stands for every position.
    """

    sql: str
    source: SourceText
    tokens: tuple[Token, ...] = ()
    base: int = 0
    whole: Span | None = None

    def at(self, start: int, end: int) -> Span:
        return self.whole or Span(self.source, self.base + start, self.base + end)

    def tokens_span(self, first: int, last: int) -> Span:
        return self.at(self.tokens[first].start, self.tokens[last].end + 1)

    def span(self, node: exp.Expr | None) -> Span | None:
        """The characters of `node`, or of the nearest node around it whose place is known."""
        while node is not None:
            extent = _extent(node, self.tokens)
            if extent is not None:
                return self.tokens_span(*extent)
            node = node.parent
        return None

    def keyword_after(self, node: exp.Expr) -> Span | None:
        """The first word after `node` and its closing parentheses."""
        extent = _extent(node, self.tokens)
        if extent is None:
            return None
        for number in range(extent[1] + 1, len(self.tokens)):
            if self.tokens[number].token_type is not TokenType.R_PAREN:
                return self.tokens_span(number, number)
        return None


def _extent(node: exp.Expr, tokens: Sequence[Token]) -> Extent | None:
    parts = [*_own_tokens(node, tokens)]
    for child in node.iter_expressions():
        parts.extend(_extent(child, tokens) or ())
    if not parts and isinstance(node, exp.Interval):
        parts.extend(_interval_tokens(node, tokens))
    if not parts:
        return None
    first, last = _with_keywords(node, min(parts), max(parts), tokens)
    return _with_keywords(node, *_balanced(first, last, tokens), tokens)


def _own_tokens(node: exp.Expr, tokens: Sequence[Token]) -> Iterator[int]:
    yield from (int(comment) for comment in node.comments or () if comment.isdecimal())
    # `_meta`, because the property makes an empty dictionary for every node it is asked of.
    start = (node._meta or {}).get("start")
    if isinstance(start, int):
        number = bisect_left(tokens, start, key=lambda token: token.start)
        if number < len(tokens):
            yield number


def _interval_tokens(node: exp.Interval, tokens: Sequence[Token]) -> Iterator[int]:
    """The tokens of `INTERVAL '1 hour'`, whose literal the parser takes apart and builds anew."""
    for number in _beside(node, tokens):
        if tokens[number].token_type is TokenType.INTERVAL:
            yield number
            yield min(number + 1, len(tokens) - 1)
            return


def _beside(node: exp.Expr, tokens: Sequence[Token]) -> range:
    """The tokens in which to look for `node`, nearest first: after its left neighbours, or before
    the operator that it is the left operand of."""
    around = node.parent
    if around is None:
        return range(0)
    left: list[int] = []
    for sibling in around.iter_expressions():
        if sibling is node:
            break
        left.extend(_extent(sibling, tokens) or ())
    if left:
        return range(max(left) + 1, len(tokens))
    operator = max(_own_tokens(around, tokens), default=0)
    return range(operator, -1, -1)


def _with_keywords(
    node: exp.Expr, first: int, last: int, tokens: Sequence[Token]
) -> tuple[int, int]:
    before = _BEFORE.get(type(node), frozenset())
    while first > 0 and tokens[first - 1].text.upper() in before:
        first -= 1
    after = _words_after(node)
    if last + 1 < len(tokens) and tokens[last + 1].text.upper() in after:
        last += 1
    return first, last


def _words_after(node: exp.Expr) -> frozenset[str]:
    match node:
        case exp.Interval():
            unit = node.text("unit").upper()
            return frozenset({unit, unit.removesuffix("S"), unit + "S"}) - {"", "S"}
        case exp.Case():
            return frozenset({"END"})
        case exp.Is():
            return frozenset({"NULL"})
        case _:
            return frozenset()


def _balanced(first: int, last: int, tokens: Sequence[Token]) -> Extent:
    """Widen the range until every parenthesis in it has its partner."""
    depth = lowest = 0
    for token in tokens[first : last + 1]:
        depth += _nesting(token)
        lowest = min(lowest, depth)
    depth -= lowest
    while lowest < 0 and first > 0:
        first -= 1
        lowest += _nesting(tokens[first])
    while depth > 0 and last + 1 < len(tokens):
        last += 1
        depth += _nesting(tokens[last])
    return first, last


def _nesting(token: Token) -> int:
    match token.token_type:
        case TokenType.L_PAREN:
            return 1
        case TokenType.R_PAREN:
            return -1
        case _:
            return 0
