"""What tests share: the command line, and real data (tests of it are skipped where it is absent)."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import settings

from rankbounds.cli import main

# How long an example takes says more of the machine than of the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

PLACES = [Path(os.environ["RANKBOUNDS_DATA"])] if os.environ.get("RANKBOUNDS_DATA") else []
PLACES.append(Path(__file__).resolve().parents[2] / "shared" / "data")


def archive(name: str) -> Path:
    """The file of this name among the real data, or skip the test."""
    for place in PLACES:
        if (place / name).exists():
            return place / name
    pytest.skip(f"{name} is not here: set RANKBOUNDS_DATA to the folder that holds it")


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory):
    """Unpack an archive of real data once; return the folder."""
    done: dict[str, Path] = {}

    def unpack(name: str) -> Path:
        if name not in done:
            source = archive(name)
            target = tmp_path_factory.mktemp(name.split(".")[0])
            with tarfile.open(source) as tar:
                if hasattr(tarfile, "data_filter"):
                    tar.extractall(target, filter="data")
                else:
                    tar.extractall(target)
            done[name] = target
        return done[name]

    return unpack


@pytest.fixture
def command(capfdbinary):
    """Run a command; return exit code, standard output and standard error."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return call
