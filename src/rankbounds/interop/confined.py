"""Access for a program that acts for a user: the files of one folder, and nothing else."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankbounds.errors import UsageError

MOST_FILES = 500
MOST_BYTES = 4 << 30


class ConfinedFolder:
    """The files in one folder, by paths that cannot lead out of it: not by ``..``, links, patterns or full paths."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not Path(folder).is_dir():  # before links are followed: one may lead in a circle
            raise UsageError(f"{os.fspath(folder)} is not a folder.")
        self.root = Path(folder).resolve()

    def file(self, given: str) -> str:
        """The one file that a path names."""
        files = self.files(given)
        if len(files) != 1:
            raise UsageError(f'"{given}" names {len(files)} files, and one is wanted.')
        return files[0]

    def files(self, given: str) -> list[str]:
        """Return the files of a path, a folder or a pattern, each inside of the folder, links followed."""
        if not given or "\0" in given or given == "-" or given.startswith("~"):
            raise UsageError(f"{given!r} is not a path of a file below the folder.")
        path = self.root / given  # a full path stays what it is
        found = [path]
        if not os.path.lexists(path) and glob.has_magic(given):
            if ".." in Path(given).parts or Path(given).is_absolute():
                raise UsageError(f'The pattern "{given}" must stay below the folder.')
            # Folders are not followed by **, and a file that a link leads to is looked at below.
            found = [self.root / name for name in sorted(glob.glob(given, root_dir=self.root, recursive=True))]
            if not found:
                raise UsageError(f'No file below the folder matches "{given}".')
        elif path.is_dir():
            inside = self._inside(path, given)
            found = sorted(entry for entry in inside.iterdir() if not entry.name.startswith("."))
        names = [given] if found == [path] else [os.path.relpath(one, self.root) for one in found]
        resolved = (self._inside(one, name) for one, name in zip(found, names, strict=True))
        files = [os.fspath(real) for real in resolved if real.is_file()]
        if not files:
            raise UsageError(f'There is no file "{given}" below the folder.')
        if len(files) > MOST_FILES:
            raise UsageError(f'"{given}" names {len(files):,} files; no more than {MOST_FILES} are read.')
        if sum(map(os.path.getsize, files)) > MOST_BYTES:
            raise UsageError(
                f'"{given}" is larger than {MOST_BYTES >> 30} GB, too much for this server: use the command line, with '
                "--engine stream."
            )
        return files

    def _inside(self, path: Path, given: str) -> Path:
        try:
            real = path.resolve()
        except (OSError, RuntimeError):
            raise UsageError(f'"{given}" is a link that leads in a circle.') from None
        if not real.is_relative_to(self.root):
            raise UsageError(f'"{given}" lies outside of the folder, and is not read.')
        return real

    def inputs(self, given: Any) -> Any:
        """Check a tool's argument for judgments or runs: every text that would be read as a path must be one here.

        ``name=path`` names a run. Dicts and rows with data pass unchanged.
        """
        if isinstance(given, str):
            return self._named([given])
        if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
            return self._named(given)
        if isinstance(given, list):
            return [self.file(one) if isinstance(one, str) else one for one in given]
        if isinstance(given, Mapping):
            return {name: self.file(one) if isinstance(one, str) else one for name, one in given.items()}
        return given

    def _named(self, several: list[str]) -> Any:
        by_name: dict[str, str] = {}
        plain: list[str] = []
        for one in several:
            name, equals, path = one.partition("=")
            if equals and not os.path.lexists(self.root / one):
                by_name[name] = self.file(path)
            else:
                plain += self.files(one)
        if by_name and plain:
            by_name |= {Path(path).name: path for path in plain}
        return by_name or (plain[0] if len(plain) == 1 else plain)

    def to_write(self, name: str, ending: str) -> Path:
        """A new file for a result, in the folder ``rankbounds-results``."""
        folder = self.root / "rankbounds-results"
        if folder.is_symlink() or (os.path.lexists(folder) and not folder.is_dir()):
            raise UsageError("rankbounds-results is a link or a file, not a folder: nothing is written.")
        folder.mkdir(exist_ok=True)
        number = 1
        while os.path.lexists(path := folder / f"{name}-{number}{ending}"):
            number += 1
        return path

    def shown(self, text: str) -> str:
        """The text with paths as a user sees them, without the folder."""
        return text.replace(f"{self.root}{os.sep}", "")
