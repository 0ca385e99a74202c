"""``python -m rankbounds``."""

import sys

from rankbounds.cli import main

sys.exit(main())
