"""The terms of R2RML, and what each kind of node may say ([R2RML] Appendix A)."""

from __future__ import annotations

from enum import Enum

RR = "http://www.w3.org/ns/r2rml#"

_TERM_MAP = ("constant", "column", "template", "termType", "inverseExpression")


class Part(Enum):
    """A kind of node: how messages call it, and the rr: properties that belong on it."""

    TRIPLES_MAP = (
        "a triples map",
        ("logicalTable", "subjectMap", "subject", "predicateObjectMap"),
    )
    LOGICAL_TABLE = ("a logical table", ("tableName", "sqlQuery", "sqlVersion"))
    SUBJECT_MAP = ("a subject map", (*_TERM_MAP, "class", "graph", "graphMap"))
    PREDICATE_MAP = ("a predicate map", _TERM_MAP)
    OBJECT_MAP = (
        "an object map",
        (*_TERM_MAP, "datatype", "language", "parentTriplesMap", "joinCondition"),
    )
    GRAPH_MAP = ("a graph map", _TERM_MAP)
    PREDICATE_OBJECT_MAP = (
        "a predicate-object map",
        ("predicate", "predicateMap", "object", "objectMap", "graph", "graphMap"),
    )
    JOIN = ("a join condition", ("child", "parent"))

    def __init__(self, title: str, properties: tuple[str, ...]) -> None:
        self.title = title
        self.properties = properties


PROPERTIES = tuple(dict.fromkeys(name for part in Part for name in part.properties))

CLASSES = (
    *("TriplesMap", "LogicalTable", "R2RMLView", "BaseTableOrView", "TermMap", "SubjectMap"),
    *("PredicateMap", "ObjectMap", "GraphMap", "PredicateObjectMap", "RefObjectMap", "Join"),
)

TERM_TYPES = ("IRI", "BlankNode", "Literal")

SQL_VERSIONS = (
    *("SQL2008", "Oracle", "MySQL", "MSSQLServer", "HSQLDB", "PostgreSQL", "DB2", "Informix"),
    *("Ingres", "Progress", "SybaseASE", "SybaseSQLAnywhere", "Virtuoso", "Firebird"),
)
