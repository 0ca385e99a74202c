"""Parts of judgments: some of them, or all with some turned back into "pooled, not judged"."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.collection.qrels import Qrels
from rankbounds.errors import DataError


def subset(qrels: Qrels, kept: Flags) -> Qrels:
    """Some of the judgments, in their order.

    Parameters
    ----------
    qrels
        The judgments.
    kept
        A flag for each of them.

    Returns
    -------
    Qrels
        Topics without any judgment left are left out.

    Examples
    --------
    >>> import numpy as np
    >>> import rankbounds as rb
    >>> qrels = rb.Qrels.from_columns(["q", "q"], ["a", "b"], [1, 0])
    >>> rb.pools.subset(qrels, np.array([True, False])).to_dict()
    {'q': {'a': 1.0}}

    """
    rows = np.flatnonzero(kept)
    if not rows.size:
        raise DataError(f"{qrels.pairs.source.name}: no judgment is left.")
    return qrels.take(rows)


def only_pooled(qrels: Qrels, kept: Flags) -> Qrels:
    """All judgments, those not kept turned into "pooled, not judged" (-1): what inferred measures want of a sample.

    Parameters
    ----------
    qrels
        The judgments.
    kept
        A flag for each of them.

    Returns
    -------
    Qrels
        As many as before.

    Examples
    --------
    >>> import numpy as np
    >>> import rankbounds as rb
    >>> qrels = rb.Qrels.from_columns(["q", "q"], ["a", "b"], [1, 0])
    >>> rb.pools.only_pooled(qrels, np.array([True, False])).to_dict()
    {'q': {'a': 1.0, 'b': -1.0}}

    """
    return qrels.only_judged(kept)
