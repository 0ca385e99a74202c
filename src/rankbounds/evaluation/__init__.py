"""From files to scores: assumptions, evaluation, the sheet of scores; engines for more than one machine's memory."""
