"""Installed versions, for bug reports, and whether the compiled kernel is in use."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from rankbounds.columns.native import described
from rankbounds.version import __version__

PACKAGES = ("numpy", "scipy", "polars", "zstandard", "pandas", "pyarrow", "pyspark", "matplotlib")


def show_versions() -> None:
    """Print the versions in use, and whether the compiled kernel is.

    Returns
    -------
    None
        Printed, for bug reports.

    Notes
    -----
    ``RANKBOUNDS_NATIVE=0`` in the environment turns the kernel off.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.show_versions()  # doctest: +ELLIPSIS
    rankbounds  ...
    Python      ...
    numpy       ...
    """
    versions = {
        "rankbounds": f"{__version__} ({described()})",
        "Python": f"{platform.python_version()} ({platform.platform()})",
        **{name: _version(name) for name in PACKAGES},
    }
    for name, told in versions.items():
        print(f"{name:<{max(map(len, versions))}}  {told}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
