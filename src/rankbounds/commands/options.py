"""Everything that the options of commands that read, score and write may say."""

from __future__ import annotations

from rankbounds.commands.output import *  # noqa: F403
from rankbounds.commands.reading import *  # noqa: F403
from rankbounds.commands.scoring import *  # noqa: F403
