"""The papers that measures and tests come from, as BibTeX.

A measure names its sources by their keys (``sources``, one of its facts). Unverified fields are left out; a measure
without an entry comes from a program, or is a plain count.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rankbounds.measures.naming.parser import MeasuresLike, parse_measures


@cache
def entries() -> dict[str, str]:
    parts = Path(__file__).with_name("sources.bib").read_text("utf-8").strip().split("\n\n")
    return {part[part.index("{") + 1 : part.index(",")]: part for part in parts}


def bibtex(measures: MeasuresLike | None = None, also: Sequence[str] = ()) -> str:
    r"""Return the papers that measures come from, as BibTeX.

    Parameters
    ----------
    measures : str, Measure, or several of these, optional
        The measures used; by default every entry.
    also : sequence of str
        Keys of more entries, such as ``smucker2007comparison``.

    Returns
    -------
    str
        An entry per paper, in the order of the measures, without unverified fields, such as some page numbers. A
        measure without a paper (a count, or one that a program defines) adds nothing.

    Examples
    --------
    >>> import rankbounds as rb
    >>> print(rb.measures.bibtex("nDCG@10"), end="")
    @article{jarvelin2002cumulated,
      author = {J{\"a}rvelin, Kalervo and Kek{\"a}l{\"a}inen, Jaana},
      title = {Cumulated Gain-Based Evaluation of {IR} Techniques},
      journal = {ACM Transactions on Information Systems},
      volume = {20},
      number = {4},
      pages = {422--446},
      year = {2002},
      doi = {10.1145/582415.582418}
    }
    >>> rb.measures.bibtex(["AP'", "NumRel"]).count("@inproceedings")
    2
    """
    known = entries()
    keys = [*known] if measures is None else [key for measure in parse_measures(measures) for key in measure.cited()]
    return "\n".join(f"{known[key]}\n" for key in dict.fromkeys([*keys, *also]))
