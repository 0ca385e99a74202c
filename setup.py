"""The part of the build that pyproject.toml cannot say: the kernel in C, left out where no compiler builds it."""

import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

HERE = Path("src/rankbounds/columns/native")
STABLE = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Has this Python the stable interface? One without it works on NumPy."""


class StableWheel(bdist_wheel):
    """One wheel for every Python from 3.10 on: the kernel keeps to the stable interface."""

    def finalize_options(self) -> None:
        """Say so in the wheel's name."""
        if STABLE:
            self.py_limited_api = "cp310"
        super().finalize_options()


kernel = Extension(
    "rankbounds.columns.native._kernel",
    sources=sorted(path.as_posix() for path in HERE.glob("*.c")),
    depends=sorted(path.as_posix() for path in HERE.glob("*.h")),
    define_macros=[("Py_LIMITED_API", "0x030A0000")],
    py_limited_api=True,
    optional=True,
)
setup(ext_modules=[kernel] if STABLE else [], cmdclass={"bdist_wheel": StableWheel})
