"""Options and reference data that several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite what golden files expect"
    )


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of reference data, which the project refers to and does not copy."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("OBDA_BM_REFERENCE", beside))
    if not folder.is_dir():
        pytest.skip(f"no reference data: {folder} does not exist; set OBDA_BM_REFERENCE")
    return folder
