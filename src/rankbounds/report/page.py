"""One HTML file from what was gathered. Ids, tags and file names are text from strangers: none becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from rankbounds.notebook import escaped

HERE = Path(__file__).parent
DRAWING = ("elements", "figures", "tables")
"""What every page is drawn with."""
SCRIPTS = (*DRAWING, "scores", "persistence", "leaderboard", "changes", "two_runs", "one_topic", "live", "begin")
"""The report's script is made of these, in this order: a name is known to all that come after it."""


def page(content: dict[str, Any], *, live: bool = False) -> str:
    """The page, in ASCII. ``live`` lets it talk to the server that it came from."""
    return _assemble("page.html", joined_scripts(), content, "; connect-src 'self'" if live else "")


def collections_page(content: dict[str, Any]) -> str:
    """The page of several collections."""
    return _assemble("collections.html", _in_one_scope(*DRAWING, "collections"), content)


def joined_scripts() -> str:
    """The script of a report: where polynomials change their sign, which stands alone, and the rest."""
    return _text("scripts/crossing.js") + _in_one_scope(*SCRIPTS)


def _in_one_scope(*names: str) -> str:
    return f"(() => {{\n{''.join(_text(f'scripts/{name}.js') for name in names)}}})();\n"


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _assemble(body: str, script: str, content: dict[str, Any], more_policy: str = "") -> str:
    # Only the script that belongs here may run, whatever else found its way into the file. It must be ASCII: its
    # checksum is taken from the bytes of the page.
    digest = base64.b64encode(hashlib.sha256(script.encode("ascii")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'{more_policy}"
    parts = {
        "{{policy}}": escaped(policy),
        "{{title}}": escaped(content["title"]),
        "{{style}}": _text("page.css"),
        "{{summary}}": "\n".join(f"<li>{escaped(sentence)}</li>" for sentence in content["summary"]),
        "{{body}}": _text(body),
        "{{data}}": embedded(content),
        "{{script}}": script,
    }
    pieces = [_text("frame.html")]
    for mark, text in parts.items():  # filled in from left to right: what is filled in is never read again
        before, after = pieces.pop().split(mark, 1)
        pieces += [before, text, after]
    return "".join(pieces).encode("ascii", "xmlcharrefreplace").decode("ascii")


def embedded(content: Any) -> str:
    """JSON that cannot end the script element it stands in, and holds no character that needs an encoding."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
