"""The files of several collections: a folder for each, BEIR's layout, or a manifest.

A collection's folder holds judgments (``qrels.txt`` or another file with ``qrels`` in its name; in BEIR's layout
``qrels/test.tsv``) and a folder ``runs`` (or ``results``). A folder of such folders means all of them. A manifest is a
table with the columns ``collection``, ``qrels``, ``runs`` (and ``run``, for another name of a file's run), or the same
in JSON; its paths are relative to its own folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.errors import DataError, UsageError
from rankbounds.files.opening import expand, plain_name
from rankbounds.files.records import named_records, read_decoded

MANIFESTS = (".csv", ".tsv", ".json")
RUN_FOLDERS = ("runs", "results")
BEIR_SPLITS = ("test", "dev")
"""Of BEIR's judgments the first that is there."""
NAMES = ("tag", "file")
"""What names a run in a file that nobody named: the tag inside, or the file's name."""
FIELDS = ("collection", "qrels", "runs")


@dataclass
class CollectionFiles:
    """The files of one collection: judgments, and runs with given names (None: their own)."""

    name: str
    qrels: str
    runs: list[tuple[str | None, str]] = field(default_factory=list)

    def files(self) -> list[str]:
        return [self.qrels, *(path for _, path in self.runs)]

    def runs_to_read(self, reading: Reading, names: str = "tag") -> list[RunToRead]:
        named = [(name or (plain_name(path) if names == "file" else None), path) for name, path in self.runs]
        given = [name for name, _ in named if name is not None]
        repeated = [name for name in given if given.count(name) > 1]
        if repeated:
            raise DataError(f'Two runs of the collection "{self.name}" are called "{repeated[0]}".')
        return [job for name, path in named for job in reading.runs_to_read([path] if name is None else {name: path})]


def collections_at(
    given: Sequence[tuple[str | None, str]], runs: str | os.PathLike[str] | None = None
) -> list[CollectionFiles]:
    """Return the collections in folders and manifests, each given with a name or None (the folder's)."""
    collections: list[CollectionFiles] = []
    for name, path in given:
        if os.path.isdir(path):
            collections += _in_folder(name, path, runs)
        elif Path(path).suffix.lower() in MANIFESTS:
            if name is not None:
                raise UsageError(f'A manifest names its collections itself: give {path} without "{name}=".')
            collections += _in_manifest(path)
        elif os.path.exists(path):
            raise UsageError(
                f"{path} is neither a folder with judgments and runs nor a manifest ({', '.join(MANIFESTS)})."
            )
        else:
            raise DataError(path, "there is no such folder or manifest.")
    names = [collection.name for collection in collections]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise UsageError(f'Two collections are called "{repeated[0]}": name one with NAME=FOLDER.')
    return collections


def _in_folder(name: str | None, folder: str, runs: str | os.PathLike[str] | None) -> Iterator[CollectionFiles]:
    own = name or Path(folder).resolve().name
    judgments = _judgments_in(folder)
    if judgments is not None:
        places = [Path(folder, inside) for inside in RUN_FOLDERS] if runs is None else [Path(runs, own)]
        place = next((place for place in places if place.is_dir()), None)
        if place is None and runs is not None:
            raise DataError(str(runs), f'there is no folder "{own}" with the runs of that collection.')
        if place is None:
            raise DataError(
                folder,
                'there is no folder "runs" beside the judgments.',
                "Give a folder with a folder of runs for each collection (--runs FOLDER), or a manifest.",
            )
        yield CollectionFiles(own, judgments, [(None, path) for path in expand([place])])
        return
    inside = [path for path in sorted(Path(folder).iterdir()) if path.is_dir() and _judgments_in(str(path))]
    if not inside:
        raise DataError(
            folder,
            "this folder holds no judgments (qrels.txt, or BEIR's qrels/test.tsv), nor folders that do.",
            "Name the files in a manifest instead.",
        )
    if name is not None:
        raise UsageError(f'{folder} holds {len(inside)} collections, which cannot all be called "{name}".')
    for path in inside:
        yield from _in_folder(None, str(path), runs)


def _judgments_in(folder: str) -> str | None:
    beside = Path(folder, "qrels")
    if beside.is_dir():
        splits = [str(beside / f"{split}.tsv") for split in BEIR_SPLITS if (beside / f"{split}.tsv").is_file()]
        files = splits[:1] or expand([beside])
    else:
        named = [str(path) for path in sorted(Path(folder).glob("*qrels*")) if path.is_file()]
        files = [path for path in named if plain_name(path) == "qrels"] or named
    if len(files) > 1:
        raise DataError(
            folder,
            f"several files could be the judgments ({', '.join(map(os.path.basename, files[:4]))}).",
            "Call one of them qrels.txt, or name it in a manifest.",
        )
    return files[0] if files else None


# ---- manifests ----


def _in_manifest(path: str) -> list[CollectionFiles]:
    def beside(file: Any) -> str:
        return os.path.join(os.path.dirname(path), str(file))

    content, _ = read_decoded(path)
    collections: dict[str, CollectionFiles] = {}
    for place, row in named_records(content, path, "collection", "qrels"):
        if not isinstance(row, dict):
            problem = f"a manifest in JSON is a list of objects with {', '.join(FIELDS)}, or an object of such by name."
            raise DataError(place, problem)
        lacking = [name for name in FIELDS if not row.get(name)]
        if lacking:
            raise DataError(place, f"{' and '.join(lacking)} must be given: the fields are {', '.join(FIELDS)}.")
        name, judgments = str(row["collection"]), beside(row["qrels"])
        collection = collections.setdefault(name, CollectionFiles(name, judgments))
        if collection.qrels != judgments:
            raise DataError(place, f'"{name}" has two files of judgments ({collection.qrels} and {judgments}).')
        runs = row["runs"]
        if isinstance(runs, Mapping):
            collection.runs += [(str(name), beside(run)) for name, run in runs.items()]
            continue
        files = expand([beside(run) for run in (runs if isinstance(runs, list) else [runs])])
        if row.get("run") and len(files) > 1:
            raise DataError(place, f'the run "{row["run"]}" must be one file, but there are {len(files)}.')
        collection.runs += [(row.get("run") or None, file) for file in files]
    if not collections:
        raise DataError(path, "this manifest names no collection.")
    return list(collections.values())
