"""One module for each command: a docstring that explains it, ``add_arguments`` and ``run``."""
