"""Everything that the options of commands that read, score and write may say."""

from __future__ import annotations

from rankbounds.commands.input_options import *  # noqa: F403
from rankbounds.commands.output_options import *  # noqa: F403
from rankbounds.commands.scoring_options import *  # noqa: F403
