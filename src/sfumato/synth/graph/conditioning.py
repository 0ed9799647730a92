"""Rows of which some columns are given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.calibrated import calibrate
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.junction import Columns, cells_of
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Codes, Given
from sfumato.synth.graph.sampling import room, walked


def codes_given(
    domain: Domain,
    potentials: Mapping[Columns, Floats],
    rows: int,
    entropy: Entropy,
    given: Given,
    *,
    most_cells: int,
) -> Codes:
    """Draws rows from the distribution of a product of potentials given some columns.

    If a tree with a table of all given columns is small enough, its tables hold the distribution for every condition
    at once. If not, the potentials are propagated anew for each condition that differs from those before.
    """
    codes = room(domain, rows)
    for name, values in given.items():
        codes[:, domain.axes([name])[0]] = checked_codes(domain, name, values, len(codes))
    known = domain.sorted(given)
    if cells_of(domain, [*potentials, known]) <= most_cells:
        tree = calibrate(domain, potentials, total=1.0, most_cells=most_cells, last=known)
        walked(tree, codes, known, entropy)
        return codes
    conditions, which = np.unique(codes[:, domain.axes(known)], axis=0, return_inverse=True)
    for number, condition in enumerate(conditions.tolist()):
        fixed = dict(zip(known, condition, strict=True))
        tree = calibrate(domain, potentials, total=1.0, most_cells=most_cells, fixed=fixed)
        chosen = which.reshape(-1) == number
        walked(tree, part := codes[chosen], known, entropy)
        codes[chosen] = part
    return codes


def checked_codes(domain: Domain, name: str, values: object, rows: int) -> Codes:
    """The codes that a column is fixed to, one for all rows or one for each; refuses others."""
    codes = np.asarray(values)
    most = domain.size([name]) - 1
    if codes.dtype.kind not in "iu" or codes.shape not in ((), (rows,)):
        raise BadArgument(f"given[{name!r}]", f"a code, or {rows} of them", f"{codes.dtype} of shape {codes.shape}")
    if codes.size and not (codes.min() >= 0 and codes.max() <= most):
        raise BadArgument(f"given[{name!r}]", f"codes of 0 … {most}", "one outside")
    return codes
