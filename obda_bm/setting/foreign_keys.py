"""Foreign keys of a setting: `foreign_key = ["turbine REFERENCES turbine (id)"]`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from obda_bm.diagnostics import Diagnostic, did_you_mean
from obda_bm.ir.catalog import Catalog, ForeignKey, Relation
from obda_bm.setting.document import Node, elements, string
from obda_bm.setting.mistakes import Mistake

_HINT = 'Write foreign_key = ["turbine REFERENCES turbine (id)"].'
_LIST = r"\(? \s* (?P<{}> [^()]+? ) \s* \)?"
_REFERENCE = re.compile(
    rf"\s* {_LIST.format('columns')} \s+ references \s+ (?P<relation> [^()]+? ) \s*"
    r"\( \s* (?P<key> [^()]+? ) \s* \) \s*",
    re.VERBOSE | re.IGNORECASE,
)


def with_foreign_keys(
    catalog: Catalog, nodes: Iterable[Node], mistakes: list[Diagnostic]
) -> Catalog:
    """`catalog` with the foreign keys that the tables `nodes` of the setting declare."""
    by_name = {node.name: node for node in nodes}
    relations = (_with_own(r, by_name[r.name], catalog, mistakes) for r in catalog.relations)
    return Catalog(tuple(relations))


def _with_own(
    relation: Relation, node: Node, catalog: Catalog, mistakes: list[Diagnostic]
) -> Relation:
    if not isinstance(node.value, dict) or "foreign_key" not in node.value:
        return relation
    given = elements(node.child("foreign_key", node.value["foreign_key"]))
    keys = (_read(each, relation, catalog, mistakes) for each in given)
    return replace(relation, foreign_keys=tuple(key for key in keys if key is not None))


def _read(
    node: Node, relation: Relation, catalog: Catalog, mistakes: list[Diagnostic]
) -> ForeignKey | None:
    text = string(node, _HINT, mistakes)
    if text is None:
        return None
    found = _REFERENCE.fullmatch(text)
    if found is None:
        mistakes.append(Mistake.BAD_KEY.at(node.place, "not a foreign key", _HINT))
        return None
    parent = catalog.find(_name(found["relation"]))
    if parent is None:
        name = _name(found["relation"])
        hint = did_you_mean(name, [r.name for r in catalog.relations]) or _HINT
        mistakes.append(Mistake.BAD_KEY.at(node.place, f"there is no relation {name!r}", hint))
        return None
    columns, key = _names(found["columns"]), _names(found["key"])
    problem = _problem(columns, key, relation, parent)
    if problem is not None:
        mistakes.append(Mistake.BAD_KEY.at(node.place, problem, _HINT))
        return None
    return ForeignKey(columns, parent.name, key)


def _problem(
    columns: tuple[str, ...], key: tuple[str, ...], child: Relation, parent: Relation
) -> str | None:
    for names, relation in ((columns, child), (key, parent)):
        known = {column.name for column in relation.columns}
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            return f"{relation.name!r} has no column {unknown!r}"
    if len(columns) != len(key):
        return f"{len(columns)} columns cannot refer to {len(key)}"
    if set(key) not in [set(k) for k in parent.keys]:
        return f"({', '.join(key)}) is no key of {parent.name!r}"
    return None


def _names(text: str) -> tuple[str, ...]:
    return tuple(map(_name, text.split(",")))


def _name(text: str) -> str:
    return text.strip().strip('"')
