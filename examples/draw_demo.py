"""Draw what ``rankbounds demo`` prints as ``docs/figures/demo.svg``, the picture at the top of the README."""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

from rankbounds.terminal import lines_that_fit

WIDTH = 142
TARGET = Path(__file__).resolve().parents[1] / "docs" / "figures" / "demo.svg"


def main() -> None:
    printed = subprocess.run([sys.executable, "-m", "rankbounds", "demo"], capture_output=True, text=True, check=True)
    lines = lines_that_fit(printed.stdout.rstrip(), WIDTH).splitlines()
    width, height = 14 + 7.4 * max(map(len, lines)), 24 + 17 * len(lines)
    text = "\n".join(
        f'<text x="14" y="{28 + 17 * at}" xml:space="preserve">{html.escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img" '
        'aria-label="What rankbounds demo prints">\n'
        '<rect width="100%" height="100%" rx="8" fill="#14181f"/>\n'
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12" fill="#e6e9ef">\n'
        f"{text}\n</g>\n</svg>\n"
    )


if __name__ == "__main__":
    main()
