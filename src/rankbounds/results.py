"""Results: rows with named columns, sentences, notes and settings, in every format.

A class of results declares its columns, gives its rows and sentences, and adds only what is its own::

    @dataclass(frozen=True, eq=False, repr=False)
    class Places(Result):
        means: Floats
        ...
        columns = (Column("run"), Column("mean", importance=1), interval("ci_low", "ci_high", "95% interval"))

        def rows(self): ...

Rows are for programs and hold every number in full. A table is for people: each column says how a cell is written
and how long it stays when the terminal is narrow. Rows may lack columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import Any, ClassVar, TypeAlias

from rankbounds.frames import Columns, Framed
from rankbounds.notebook import shown
from rankbounds.tables import ROW_FORMATS, Table, as_json, in_prose, json_of, number, plain, render_rows
from rankbounds.terminal import escape_controls

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of a result: a key of its rows, and its appearance.

    ``cell`` writes a cell from the whole row, so that "0.3280 [0.3001, 0.3510]" can be one column of a table and three
    of the rows. A column whose ``heading`` is None is in the rows alone.
    """

    name: str
    heading: str | None = ""
    """What tables print; by default the name with blanks."""
    cell: Callable[[Row], str] | None = None
    """By default text as it is, numbers with the digits asked for, and a dash for what is not known."""
    importance: int = 0
    """Columns with the higher importance stay longer when the terminal is narrow."""
    left: bool | None = None
    """Aligned left; by default where a row holds text."""
    in_rows: bool = True
    """False for a column that tables alone have."""
    of: str = ""
    """The column of the number that an interval is about: narrow tables show both or neither."""

    @property
    def title(self) -> str:
        """The heading that tables print."""
        return self.heading or self.name.replace("_", " ")

    def text(self, row: Row) -> str:
        """The cell for people."""
        if self.cell is not None:
            return self.cell(row)
        value = row.get(self.name)
        return number(value) if value is None or isinstance(value, float) else str(value)


def interval(low: str, high: str, heading: str, write: Callable[[float | None], str] = number, **more: Any) -> Column:
    """Return a column of tables that shows two columns of rows as ``[low, high]``; a dash if one is unknown."""

    def cell(row: Row) -> str:
        ends = plain(row.get(low)), plain(row.get(high))
        return "-" if None in ends else f"[{write(ends[0])}, {write(ends[1])}]"

    return Column(low, heading, cell, in_rows=False, **more)


def count(name: str, heading: str | None = "", **more: Any) -> Column:
    """Return a column of whole numbers, with commas between thousands in tables; a dash if unknown."""
    return Column(name, heading, lambda row: "-" if row.get(name) is None else f"{row[name]:,}", **more)


def place_cell(row: Row) -> str:
    """Write the rank of a row with its interval, or a dash."""
    if row["rank"] is None:
        return "-"
    low, high = row["rank_low"], row["rank_high"]
    return f"{row['rank']}" if low == high else f"{row['rank']} [{low}, {high}]"


def build_table(rows: Iterable[Row], columns: Sequence[Column]) -> Table:
    """Rows as a table for people."""
    rows = list(rows)
    shown_columns = [column for column in columns if column.heading is not None]
    places = dict(enumerate(shown_columns))
    left = {
        place
        for place, column in places.items()
        if (any(isinstance(row.get(column.name), str) for row in rows) if column.left is None else column.left)
    }
    important = [place for place, column in places.items() if column.importance]
    named = {column.name: place for place, column in reversed(places.items()) if column.in_rows}
    return Table(
        [column.title for column in shown_columns],
        [[column.text(row) for column in shown_columns] for row in rows],
        frozenset(left),
        sorted(important, key=lambda place: -places[place].importance),
        belongs={place: named[column.of] for place, column in places.items() if column.of in named},
    )


def _without_controls(words: Callable[..., str]) -> Callable[..., str]:
    @wraps(words)
    def escaped(*given: Any, **named: Any) -> str:
        return escape_controls(words(*given, **named))

    return escaped


@dataclass(frozen=True, eq=False, repr=False)
class Result(Framed):
    """An answer: ``rows()`` for programs, a table and ``words()`` for people, ``notes()``, and its ``settings``.

    Subclasses declare ``columns`` (a tuple, or a property if they depend on the answer; by default the keys of the
    first row) and define ``rows``, and ``words`` and ``notes`` as needed. As dataclasses they need ``repr=False``.

    Attributes
    ----------
    settings : dict
        The choices behind the answer.
    columns : sequence of Column
        The columns of rows and tables.

    Examples
    --------
    >>> import rankbounds as rb
    >>> result = rb.similarity({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "x"]}}, depths=[1])
    >>> isinstance(result, rb.Result), len(result.rows()) > 0
    (True, True)
    """

    settings: dict[str, Any] = field(default_factory=dict, kw_only=True)
    columns: ClassVar[Sequence[Column]] = ()
    figures: ClassVar[tuple[str, ...]] = ()
    """Which functions of ``rankbounds.plots`` draw it, the usual one first."""
    words_beside: ClassVar[str] = ""
    """Where the sentences stand beside a table on the command line: "above", "below", or nowhere."""
    title: ClassVar[str] = ""
    """What a paper's caption says of the table; by default the first of the words."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "words" in vars(cls):
            cls.words = _without_controls(cls.words)  # type: ignore[method-assign]

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict per row, with full precision; None for what is not known."""
        raise NotImplementedError

    def words(self) -> str:
        """Return the answer in sentences."""
        return ""

    def notes(self) -> list[str]:
        """Return what a reader of the numbers must know, in sentences."""
        return []

    def doubts(self) -> list[str]:
        """Return the notes that could change a decision, which is what commands print without ``--explain``."""
        return self.notes()

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the columns of the rows; by default those of the first row."""
        return tuple(column.name for column in self.columns if column.in_rows) or tuple(next(iter(self.rows()), ()))

    def table(self) -> Table:
        """Return the table for people."""
        return build_table(self.rows(), self.columns or tuple(map(Column, self.fields)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it: ``rows``, ``words``, ``notes``, ``settings``."""
        content = {"rows": self.rows(), "words": self.words(), "notes": self.notes(), "settings": self.settings}
        found: dict[str, Any] = as_json(content)
        return found

    def _columns(self) -> Columns:
        rows = self.rows()
        return {name: [plain(row.get(name)) for row in rows] for name in self.fields}

    def to_latex(self, *, width: str | None = None, caption: bool = True, label: str = "") -> str:
        r"""Return LaTeX, ``"column"``, ``"text"`` or ``"page"`` wide, a column if it fits.

        It needs the package booktabs. Without ``caption`` it is the tabular alone; ``label`` is for ``\ref``.
        """
        from rankbounds.paper import write_latex

        label = label or f"tab:{type(self).__name__.lower()}"
        return write_latex(self.table(), self.title or self.words(), width, caption=caption, label=label)

    def render(self, kind: str, *, raw: bool = False) -> str:
        """Return any text format: ``json``, ``jsonl``, ``csv``, ``tsv``, or a table for people."""
        if kind in ROW_FORMATS:
            return render_rows(self.rows(), kind, self.fields, raw=raw)
        if kind == "latex":
            return self.to_latex()
        words = self.words() if kind == "table" and self.words_beside else ""
        return "\n".join(filter(None, self._beside(self.table().render(kind), words and f"{words}\n")))

    def _beside(self, table: str, words: str) -> tuple[str, str]:
        return (words, table) if self.words_beside == "above" else (table, words)

    def __repr__(self) -> str:
        parts = (*self._beside(self.table().text(), self.words()), *map(escape_controls, self.doubts()))
        return "\n".join(part.rstrip("\n") for part in parts if part)

    def _repr_html_(self) -> str:
        return shown(self.table(), *filter(None, (self.words(), *self.notes())))


@dataclass(frozen=True, eq=False, repr=False)
class CaptionedTables(Result):
    """Sentences and several tables, each with its introduction."""

    def parts(self) -> list[tuple[str, Table]]:
        """The tables and their captions."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON: the rows of every table, ``settings`` and ``words``."""
        names = [part.name for part in fields(self) if part.name != "settings"]
        content = {name: getattr(self, name) for name in (*names, "settings")}
        found: dict[str, Any] = as_json(content | {"words": self.words()})
        return found

    def render(self, kind: str, *, raw: bool = False) -> str:
        """Return the result in any text format; ``json`` is one object, other formats for programs have the rows."""
        if kind == "json":
            return json_of(self.to_dict(), indent=1) + "\n"
        if kind in ROW_FORMATS:
            return super().render(kind, raw=raw)
        parts = [in_prose(paragraph, kind) for paragraph in self.words().strip("\n").split("\n\n")]
        for caption, table in self.parts():
            parts.append(("" if kind == "latex" else in_prose(caption, kind)) + table.render(kind, caption))
        return "\n".join(parts)

    def __repr__(self) -> str:
        return "\n".join([self.words(), *(f"{caption}\n{table.text()}" for caption, table in self.parts())])

    def _repr_html_(self) -> str:
        return shown(self.words(), *(part for captioned in self.parts() for part in captioned))
