"""What pyproject.toml cannot say: the kernel in C, left out where nothing compiles it, and where the project lives."""

import os
import re
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
    # Products are rounded before they are added, as NumPy does it.
    extra_compile_args=[] if sys.platform == "win32" else ["-ffp-contract=off"],
    py_limited_api=True,
    optional=True,
)

# A package index shows the README far from the repository: its links have to be whole. The workflow that releases knows
# where the repository is.
readme = Path("README.md").read_text("utf-8")
addresses = {}
if repository := os.environ.get("GITHUB_REPOSITORY"):
    home = f"https://github.com/{repository}"
    readme = re.sub(r"(!\[[^]]*\])\((?!https?:)", rf"\1({home}/raw/main/", readme)
    readme = re.sub(r"(?<!!)(\[[^]]*\])\((?!https?:)", rf"\1({home}/blob/main/", readme)
    addresses = {
        "Repository": home,
        "Documentation": f"https://{repository.partition('/')[0]}.github.io/{repository.partition('/')[2]}",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
setup(
    ext_modules=[kernel] if STABLE else [],
    cmdclass={"bdist_wheel": StableWheel},
    long_description=readme,
    long_description_content_type="text/markdown",
    project_urls=addresses,
)
