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
    return _assembled("page.html", joined_scripts(), content, "; connect-src 'self'" if live else "")


def collections_page(content: dict[str, Any]) -> str:
    """The page of several collections."""
    return _assembled("collections.html", _in_one_scope(*DRAWING, "collections"), content)


def joined_scripts() -> str:
    """The script of a report: where polynomials change their sign, which stands alone, and the rest."""
    return _script("crossing") + _in_one_scope(*SCRIPTS)


def _in_one_scope(*names: str) -> str:
    return f"(() => {{\n{''.join(map(_script, names))}}})();\n"


def _script(name: str) -> str:
    return _text(f"scripts/{name}.js")


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _assembled(body: str, script: str, content: dict[str, Any], more_policy: str = "") -> str:
    # Only the script that belongs here may run, whatever else found its way into the file.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'{more_policy}"
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
