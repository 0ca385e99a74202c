"""One HTML file from what was gathered. Ids, tags and file names are text from strangers: none becomes markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def page(content: dict[str, Any], *, live: bool = False) -> str:
    """The page, in ASCII. ``live`` lets it talk to the server that it came from."""
    template, style, *scripts = (
        (HERE / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "crossing.js", "page.js")
    )
    script = "".join(scripts)
    # Only the script that belongs here may run, whatever else found its way into the file.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'"
    if live:
        policy += "; connect-src 'self'"
    parts = {
        "{{policy}}": html.escape(policy),
        "{{title}}": html.escape(content["title"]),
        "{{style}}": style,
        "{{summary}}": "\n".join(f"<li>{html.escape(one)}</li>" for one in content["summary"]),
        "{{data}}": embedded(content),
        "{{script}}": script,
    }
    pieces = [template]
    for mark, text in parts.items():  # filled in from left to right: what is filled in is never read again
        before, after = pieces.pop().split(mark, 1)
        pieces += [before, text, after]
    return _ascii("".join(pieces), script)


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
