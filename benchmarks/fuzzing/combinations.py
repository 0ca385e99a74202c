"""What must hold of options that are chosen together: the law of the tests, on more cases than they try."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

from fuzzing.case import Case, ViolationError

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))


def combinations(rng: Random) -> Case:
    """Every engine has the numbers of plain enumeration."""
    from combinations import Case as Combination

    drawn = Combination.drawn(rng)

    def check(folder: Path) -> str:
        try:
            drawn.check(folder)
        except AssertionError as error:
            raise ViolationError(str(error)) from error
        return "numbers"

    return Case(drawn.files(), check, " ".join(["rankbounds", *drawn.arguments(Path())]), seconds=20)
