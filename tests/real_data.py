"""Where the real data lie that some tests need: below RANKBOUNDS_DATA, or beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PLACES = [Path(os.environ["RANKBOUNDS_DATA"])] if os.environ.get("RANKBOUNDS_DATA") else []
PLACES.append(Path(__file__).resolve().parents[2] / "shared" / "data")


def archive(name: str) -> Path:
    """The file of this name among the real data, or skip the test."""
    for place in PLACES:
        if (place / name).exists():
            return place / name
    pytest.skip(f"{name} is not here: set RANKBOUNDS_DATA to the folder that holds it")
