"""What tests of commands share: the files of a small collection."""

from __future__ import annotations

import pytest
from small_files import QRELS, RUN


@pytest.fixture
def files(tmp_path):
    """A folder with ``qrels`` and ``runs/run``."""
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "run").write_text(RUN)
    return tmp_path
