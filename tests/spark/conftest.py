"""One Spark session for all tests here, which xdist keeps in one worker."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    from obda_bm.execution.spark.java import find_java

    if find_java() is None:
        pytest.skip("no Java: apt-get install openjdk-17-jre-headless")
    builder = sql.SparkSession.builder.master("local[2]").appName("tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "America/New_York",  # results must not depend on it
        "spark.log.level": "OFF",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Spark's own start
        session = builder.getOrCreate()
    yield session
    session.stop()
