"""One HTML file from what was gathered. Ids, tags and file names are text from strangers: none becomes markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCRIPTS = (
    "elements", "figures", "tables", "scores", "persistence", "leaderboard", "changes", "two_runs", "one_topic", "live",
    "begin",
)  # fmt: skip
"""The page's script is made of these, in this order: a name is known to all that come after it."""


def page(content: dict[str, Any], *, live: bool = False) -> str:
    """The page, in ASCII. ``live`` lets it talk to the server that it came from."""
    script = joined_scripts()
    # Only the script that belongs here may run, whatever else found its way into the file.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'"
    if live:
        policy += "; connect-src 'self'"
    parts = {
        "{{policy}}": html.escape(policy),
        "{{title}}": html.escape(content["title"]),
        "{{style}}": (HERE / "page.css").read_text(encoding="utf-8"),
        "{{summary}}": "\n".join(f"<li>{html.escape(sentence)}</li>" for sentence in content["summary"]),
        "{{data}}": embedded(content),
        "{{script}}": script,
    }
    pieces = [(HERE / "page.html").read_text(encoding="utf-8")]
    for mark, text in parts.items():  # filled in from left to right: what is filled in is never read again
        before, after = pieces.pop().split(mark, 1)
        pieces += [before, text, after]
    return _ascii("".join(pieces), script)


def joined_scripts() -> str:
    """The script: where polynomials change their sign, which stands alone, and the rest in a scope of its own."""
    crossing, *others = (
        (HERE / "scripts" / f"{name}.js").read_text(encoding="utf-8") for name in ("crossing", *SCRIPTS)
    )
    return f"{crossing}(() => {{\n{''.join(others)}}})();\n"


def embedded(content: Any) -> str:
    """JSON that cannot end the script element it stands in, and holds no character that needs an encoding."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _ascii(text: str, script: str) -> str:
    if not script.isascii():
        raise ValueError("the page's script must be ASCII: its checksum is taken from these bytes")
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("ascii")).digest()).decode("ascii")
