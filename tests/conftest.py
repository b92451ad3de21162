"""Options and reference data that several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test may fail for being slow on a busy machine, nor differ from one run to the next.
settings.register_profile(
    "project", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite what golden files expect"
    )
    parser.addoption(
        "--differential",
        type=int,
        default=2000,
        metavar="N",
        help="try N random pairs of a query and streams (default: 2000)",
    )
    parser.addoption(
        "--seed", default="", metavar="S", help="other random pairs, or with N = 0 the pair S alone"
    )
    parser.addoption(
        "--full-tables", action="store_true", help="all 50 runs of every table of [X], for minutes"
    )


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of reference data, which the project refers to and does not copy."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("OBDA_BM_REFERENCE", beside))
    if not folder.is_dir():
        pytest.skip(f"no reference data: {folder} does not exist; set OBDA_BM_REFERENCE")
    return folder
