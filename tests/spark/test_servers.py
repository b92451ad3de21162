"""Streams from a real Redis, a static relation from a real PostgreSQL."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obda_bm.execution.local import run_local
from obda_bm.execution.mistakes import ExecutionError
from obda_bm.execution.sources import read_static
from obda_bm.execution.spark.run import Once, run_spark
from obda_bm.execution.spark.store import inspect_store
from obda_bm.pipeline import Compiled, compile_sql, load_setting
from tests.servers import postgres_server, redis_server
from tests.spark.runs import Collected, total

redis = pytest.importorskip("redis", reason="redis is not installed: pip install 'obda-bm[redis]'")
psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

SETTING = """
[streams.reading]
time = "ts"
columns = {{ ts = "TIMESTAMP", sensor = "INTEGER", value = "DECIMAL(5,1)" }}
source = {{ format = "redis", url = "{redis}", stream = "readings", maxRowsPerTrigger = 25 }}
[streams.alarm]
time = "ts"
columns = {{ ts = "TIMESTAMP", sensor = "INTEGER" }}
source = {{ format = "redis", url = "{redis}", stream = "alarms" }}
[relations.known]
columns = {{ id = "INTEGER", turbine = "TEXT", since = "TIMESTAMP", share = "DECIMAL(4,2)" }}
source = {{ format = "jdbc", url = "{postgres}", table = "public.known" }}
"""
QUERY = """SELECT a.sensor, k.turbine FROM reading r, alarm a, known k
WHERE r.sensor = k.id AND a.sensor = k.id AND r.ts < a.ts AND r.value > 90.5"""


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with redis_server() as url:
        yield url


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with postgres_server() as url:
        connection = url.removeprefix("jdbc:")
        with psycopg.connect(connection) as database:
            database.execute(
                "CREATE TABLE known (since timestamptz, id bigint, share numeric, turbine text)"
            )
            rows = [(f"2026-01-01 0{i}:00+02", i, i / 4, f"T{i % 3} 'n") for i in range(8)]
            for row in rows:
                database.execute("INSERT INTO known VALUES (%s, %s, %s, %s)", row)
            database.execute("INSERT INTO known VALUES (NULL, 99, NULL, NULL)")
        yield url


@pytest.fixture
def compiled(tmp_path: Path, redis_url: str, postgres_url: str) -> Compiled:
    text = SETTING.format(redis=redis_url, postgres=postgres_url)
    (tmp_path / "s.toml").write_text(text)
    redis.Redis.from_url(redis_url).flushall()
    return compile_sql(QUERY, load_setting(tmp_path / "s.toml"))


def send(url: str, first: int, last: int) -> list[tuple[str, dict[str, str]]]:
    """Readings every second, alarms every third one, from second `first` to before `last`."""
    client = redis.Redis.from_url(url)
    sent = []
    for i in range(first, last):
        when = f"2026-01-01T00:{i // 60:02d}:{i % 60:02d}"
        reading = {"ts": when, "sensor": str(i % 11), "value": str(80 + (7 * i) % 20)}
        client.xadd("readings", reading)
        sent.append(("reading", reading))
        if i % 3 == 0:
            alarm = {"ts": when, "sensor": str((i * 5) % 9)}
            client.xadd("alarms", alarm)
            sent.append(("alarm", alarm))
    return sent


def answer(sent: list[tuple[str, dict[str, str]]]) -> Counter[tuple[int, str]]:
    """The query as nested loops."""
    readings = [row for name, row in sent if name == "reading" and float(row["value"]) > 90.5]
    alarms = [row for name, row in sent if name == "alarm"]
    return Counter(
        (int(a["sensor"]), f"T{int(a['sensor']) % 3} 'n")
        for r in readings
        for a in alarms
        if r["sensor"] == a["sensor"] and int(a["sensor"]) < 8 and r["ts"] < a["ts"]
    )


def test_redis_and_postgres_end_to_end(
    spark: Any, compiled: Compiled, tmp_path: Path, redis_url: str
) -> None:
    """Two runs on one state: offsets survive, and each entry counts once."""
    sink, state = Collected(), tmp_path / "state"
    sent = send(redis_url, 0, 60)
    run_spark(compiled, spark, state=state, sink=sink, trigger=Once()).awaitTermination()
    assert inspect_store(state)["newest"]["batch"] == 2, "60 readings, at most 25 in a batch"
    sent += send(redis_url, 60, 100)
    run = run_spark(compiled, spark, state=state, sink=sink, trigger=Once())
    run.awaitTermination()
    assert total(sink.emitted) == answer(sent)
    assert answer(sent)
    assert (run.report.rows_in, run.report.late) == (len(sent), 0)


def test_static_relation_as_text_says(compiled: Compiled) -> None:
    relation = compiled.setting.catalog.find("known")
    assert relation is not None
    table = read_static(relation, Path())
    assert table.num_rows == 9
    first = table.filter([i == 3 for i in table.column("id").to_pylist()]).to_pylist()[0]
    assert str(first["since"]) == "2026-01-01 01:00:00"
    assert (str(first["share"]), first["turbine"]) == ("0.75", "T0 'n")


def test_local_engine_reads_postgres_too(tmp_path: Path, postgres_url: str) -> None:
    text = SETTING.format(redis="", postgres=postgres_url)
    (tmp_path / "s.toml").write_text(text)
    compiled = compile_sql(QUERY, load_setting(tmp_path / "s.toml"))
    relation = compiled.setting.catalog.find("known")
    assert relation is not None
    rows: dict[str, Any] = {"known": read_static(relation, tmp_path), "reading": [], "alarm": []}
    assert list(run_local(compiled, rows)) == []


def test_missing_table_is_a_diagnostic(tmp_path: Path, postgres_url: str) -> None:
    text = SETTING.format(redis="", postgres=postgres_url).replace("public.known", "nowhere")
    (tmp_path / "s.toml").write_text(text)
    relation = load_setting(tmp_path / "s.toml").catalog.find("known")
    assert relation is not None
    with pytest.raises(ExecutionError, match="cannot read the table 'nowhere'"):
        read_static(relation, tmp_path)


def test_trimmed_stream_is_said(redis_url: str) -> None:
    """What was planned and is gone must not be passed over."""
    from obda_bm.execution.spark.redis_streams import Place, RedisReader

    client = redis.Redis.from_url(redis_url, decode_responses=True)
    client.delete("short")
    ids = [client.xadd("short", {"a": str(i)}) for i in range(5)]
    reader = RedisReader(Place(redis_url, "short"), ("a",), 100)
    (part,) = reader.partitions({"id": "0-0"}, {"id": ids[-1]})
    assert [b.to_pydict() for b in reader.read(part)] == [{"a": ["0", "1", "2", "3", "4"]}]
    time.sleep(0.002)
    client.xtrim("short", maxlen=0, approximate=False)
    with pytest.raises(RuntimeError, match="trim it later"):
        list(reader.read(part))
