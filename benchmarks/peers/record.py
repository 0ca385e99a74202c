"""What a run of the benchmark keeps in a file, and what has become slower or larger since."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import rankbounds
from peers.timing import Ratio

FORMAT = "rankbounds benchmark 1"
KINDS = ("wall", "processor", "peak")


def save(path: Path, found: Iterable[Ratio], settings: dict[str, Any]) -> None:
    """Ratios alone: seconds say something of one machine only."""
    machine = {"processors": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    content = {
        "format": FORMAT,
        "rankbounds": rankbounds.__version__,
        "settings": settings | machine,
        "ratios": {ratio.key: asdict(ratio) for ratio in found},
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


def load(path: Path) -> dict[str, dict[str, Any]]:
    """The ratios of an earlier run, by key."""
    content = json.loads(path.read_text())
    if content.get("format") != FORMAT:
        raise SystemExit(f"{path} was not written by this benchmark (--save).")
    return content["ratios"]


def regressions(found: Iterable[Ratio], before: dict[str, dict[str, Any]], tolerance: float) -> list[tuple[Any, ...]]:
    """Rows (ratio, kind, before, now) of what is more than ``tolerance`` (a share) above what it was."""
    rows = []
    for ratio in found:
        for kind in KINDS:
            old, new = before.get(ratio.key, {}).get(kind), getattr(ratio, kind)
            if old and new and new > old * (1 + tolerance):
                rows.append((ratio.key, kind, old, new))
    return rows
