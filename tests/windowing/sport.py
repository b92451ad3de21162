"""The schema of the published queries, and data for it."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa

from obda_bm.diagnostics import SourceText
from obda_bm.ir.catalog import Catalog, Column, Extent, Relation
from obda_bm.ir.sqltypes import DOUBLE, INTEGER, TEXT, TIMESTAMP
from obda_bm.ir.window_plan import WindowPlan
from obda_bm.mediation import Mediator, mediate
from obda_bm.ontology import read_ontology
from obda_bm.r2rml import load_mappings
from obda_bm.syntax import parse_starql
from obda_bm.windowing import plan_window

_FIGURES = ("longitude", "latitude", "height", "distance")
CATALOG = Catalog(
    (
        Relation(
            "profiles",
            (Column("id", INTEGER), Column("name", TEXT), Column("collection", INTEGER)),
            Extent.STATIC,
            keys=(("id",),),
        ),
        Relation("collections", (Column("id", INTEGER), Column("name", TEXT)), Extent.STATIC),
        Relation(
            "measurements",
            (
                Column("profile", INTEGER),
                *(Column(name, DOUBLE) for name in _FIGURES),
                Column("duration", INTEGER),
                Column("speed", DOUBLE),
                Column("ts", TIMESTAMP, nullable=False),
            ),
            Extent.INFINITE,
            time="ts",
        ),
    )
)
START = datetime(2012, 7, 4, 4, 21, 58)
"""06:21:58 in central European summer time."""


def mediator(reference: Path) -> Mediator:
    folder = reference / "starql"
    tbox = read_ontology([folder / "Starql.owl"]).tbox
    found = mediate(load_mappings([folder / "Starql.obda"]), CATALOG, tbox)
    assert not found.problems
    return found


def plan(text: str, mediating: Mediator) -> WindowPlan:
    document = parse_starql(SourceText("q.starql", text))
    return plan_window(document, document.streams[0].query, mediating, CATALOG)


def tables(seed: int, rows: int, hours: float) -> dict[str, pa.Table]:
    """Few profiles with halves as values, so that sums are exact; some values are missing."""
    rng = random.Random(seed)
    seconds = sorted(rng.randrange(-600, int(hours * 3600)) for _ in range(rows))
    measured = {
        "profile": [rng.choice([1, 2, 3, 4, 5, 9]) for _ in seconds],
        **{c: [rng.choice([None, rng.randrange(90) / 2]) for _ in seconds] for c in _FIGURES},
        "duration": [rng.randrange(100) for _ in seconds],
        "speed": [rng.choice([None, *(rng.randrange(110) / 2 for _ in range(9))]) for _ in seconds],
        "ts": [START + timedelta(seconds=s) for s in seconds],
    }
    return {
        "measurements": pa.table(measured),
        "profiles": pa.table(
            {"id": [1, 2, 3, 4, 5], "name": ["Anna B", "b", "c", "c", None], "collection": [1] * 5}
        ),
        "collections": pa.table({"id": [1], "name": ["x"]}),
    }
