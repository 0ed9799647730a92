"""The auditor of matrices: what floats find is what exact arithmetic finds, and bad matrices are refused."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

import sfumato as sf
from sfumato.audit import matrix
from sfumato.audit.matrix import delta_bound, ratio_bound
from sfumato.audit.record import Verdict
from sfumato.errors import BadArgument
from sfumato.exact import log_up
from sfumato.mechanisms.matrix_mechanism import channel, channel_delta, channel_epsilon

THREE_QUARTERS = [["3/4", "1/4"], ["1/4", "3/4"]]
STEPS = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.375, 0.5]])


def wide(size: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).random((size, size)) + 0.05
    return made / made.sum(axis=1, keepdims=True)


def test_a_claim_is_compared() -> None:
    three = log_up(Fraction(3))
    audit = matrix(THREE_QUARTERS, claim=sf.Pure(three), inputs=["no", "yes"], outputs=["N", "Y"])
    assert audit.verdict is Verdict.TIGHT and audit.witness is not None
    assert {audit.witness.left, audit.witness.right} == {"no", "yes"}
    assert audit.witness.event.endswith("probability 0.75 against 0.25")
    assert matrix(THREE_QUARTERS, claim=sf.Pure(2)).verdict is Verdict.SOUND
    assert matrix(THREE_QUARTERS, claim=sf.Pure("1.098")).verdict is Verdict.VIOLATED
    assert matrix(THREE_QUARTERS, claim=sf.Approx(0, "0.5")).verdict is Verdict.TIGHT
    assert matrix(THREE_QUARTERS, claim=sf.Approx(0, "0.49")).verdict is Verdict.VIOLATED
    assert matrix(THREE_QUARTERS, claim=sf.Approx(2, 0)).line("δ at ε = 2").high == 0
    assert matrix(THREE_QUARTERS).verdict is Verdict.OPEN  # nothing is claimed
    assert matrix(THREE_QUARTERS, claim=1).lines == matrix(THREE_QUARTERS, claim=sf.Pure(1)).lines
    assert matrix(np.array([[1, 0], [0, 1]]), claim=1).line("ε").low == math.inf


@pytest.mark.parametrize(
    ("claim", "lie"),
    [
        (sf.ZCDP("0.55"), sf.ZCDP("0.5")),
        (sf.GDP("1.35"), sf.GDP("1.3")),
        (sf.Approx(700, 0), sf.accounting.BoundedRange(2)),
    ],
    ids=["zcdp", "gaussian", "steep"],
)
def test_other_claims_go_through_every_pair(claim: sf.Loss, lie: sf.Loss) -> None:
    audit = matrix(THREE_QUARTERS, claim=claim, inputs=["x", "y"])
    assert audit.verdict in (Verdict.SOUND, Verdict.TIGHT)
    assert audit.witness is not None and audit.witness.left in "xy"
    assert matrix(THREE_QUARTERS, claim=lie).verdict is Verdict.VIOLATED


rows = st.integers(2, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 9), min_size=width, max_size=width).filter(any), min_size=2, max_size=6
    )
)


@settings(max_examples=examples(60), deadline=None)
@given(rows, st.sampled_from([None, "line"]), st.fractions(0, 3, max_denominator=8))
def test_it_encloses_what_exact_arithmetic_finds(
    weights: list[list[int]], adjacency: str | None, epsilon: Fraction
) -> None:
    exactly = [[Fraction(entry, sum(row)) for entry in row] for row in weights]
    pairs = None if adjacency is None else [(place, place + 1) for place in range(len(weights) - 1)]
    known = channel(exactly, adjacency=pairs)
    audit = matrix(exactly, claim=sf.Approx(epsilon, 0), adjacency=adjacency)  # type: ignore[arg-type]
    pure, rest = audit.line("ε"), next(line for line in audit.lines if line.what != "ε")
    assert pure.high is not None and rest.high is not None
    assert pure.low <= channel_epsilon(known) and channel_epsilon(known) <= pure.high + Fraction(1, 10**30)
    assert rest.low <= channel_delta(known, epsilon) <= rest.high + Fraction(1, 10**30)
    if pure.low < math.inf:
        assert pure.high - pure.low < Fraction(1, 10**13)
    assert rest.high - rest.low < Fraction(1, 10**13)


def test_floats_are_read_as_they_are_and_each_row_is_divided_by_its_sum() -> None:
    tenths = np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1]])
    assert sum(Fraction(entry) for entry in tenths[0].tolist()) != 1
    audit = matrix(tenths)
    first, second = ([Fraction(entry) for entry in row] for row in tenths.tolist())
    ratio = (first[2] / sum(first)) / (second[2] / sum(second))
    low, high = audit.line("ε").low, audit.line("ε").high
    assert high is not None and low <= log_up(max(ratio, 1 / ratio)) <= high + Fraction(1, 10**30)
    assert "exact sum" in dict(audit.facts)["entries are read"]


@pytest.mark.parametrize("adjacency", [None, "line", [(0, 1), (5, 9), (9, 80)]], ids=["all", "line", "listed"])
def test_blocks_and_pairs_find_the_same(adjacency: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix of many blocks beside the obvious way, with floats."""
    monkeypatch.setattr(sys.modules["sfumato.audit.matrix"], "BLOCK", 1000)
    entries = wide(150, 3)
    audit = matrix(entries, claim=sf.Approx("0.5", "0.2"), adjacency=adjacency)  # type: ignore[arg-type]
    close = (
        [(a, b) for a in range(150) for b in range(150) if a != b]
        if adjacency is None
        else [(a, a + 1) for a in range(149)]
        if adjacency == "line"
        else adjacency
    )
    both = [*close, *((b, a) for a, b in close)]
    plain = max(float(np.maximum(0, entries[a] - math.exp(0.5) * entries[b]).sum()) for a, b in both)
    ratio = max(float((entries[a] / entries[b]).max()) for a, b in both)
    assert float(audit.line("δ at ε = 0.5").low) == pytest.approx(plain, rel=1e-12)
    assert float(audit.line("ε").low) == pytest.approx(math.log(ratio), rel=1e-12)


def test_one_wrong_entry_among_many_is_found() -> None:
    """Uniform but for one row, whose probability of one output is too large: ε = ln 3 there, and nowhere else."""
    size = 200
    entries = np.full((size, size), 1 / size)
    entries[77, 13] *= 3
    entries[77, 14:] -= 2 / size / (size - 14)
    audit = matrix(entries, claim=sf.Pure(1))
    assert audit.verdict is Verdict.VIOLATED and audit.witness is not None
    assert audit.witness.left == 77 and "outcome 13" in audit.witness.event
    assert float(audit.line("ε").low) == pytest.approx(math.log(3))


def test_impossible_outputs_and_tiny_ones() -> None:
    assert matrix([[1, 0], ["0.5", "0.5"]]).line("ε").low == math.inf
    assert matrix([[1, 0], [1, 0]]).line("ε").high < Fraction(1, 10**13)  # type: ignore[operator]
    tiny = Fraction(1, 10**400)  # its float is 0
    audit = matrix([[1 - tiny, tiny], [1 - 2 * tiny, 2 * tiny]], claim=sf.Pure(1))
    assert audit.verdict is Verdict.SOUND and float(audit.line("ε").low) == pytest.approx(math.log(2))
    assert matrix(np.array([[1.0, 5e-324], [1.0, 1e-323]])).line("ε").low < math.inf


def test_bounds_are_on_the_safe_side() -> None:
    """Were the error of floats left out, some of these would fail."""
    assert ratio_bound(1.0) > 1 and ratio_bound(0.5) == 1
    assert delta_bound(-1e-16, 1000) > 0 and delta_bound(2.0, 3) == 1
    worst = 0.0
    for seed in range(8):
        entries = wide(12, seed)
        exactly = [[Fraction(x) for x in row] for row in entries.tolist()]
        normal = [[x / sum(row) for x in row] for row in exactly]
        audit = matrix(entries)
        true = max(a[j] / b[j] for j in range(12) for a in normal for b in normal)
        low, high = audit.line("ε").low, audit.line("ε").high
        assert high is not None and low <= log_up(true) <= high
        worst = max(worst, float(high - low))
    assert 0 < worst < 1e-13


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (np.array([[0.5, 0.5], [0.5, 0.4]]), "row 1"),
        (np.array([[1.5, -0.5], [0.5, 0.5]]), "probabilities"),
        (np.array([[math.nan, 0.5], [0.5, 0.5]]), "probabilities"),
        (np.array([0.5, 0.5]), "rows and columns"),
        (np.array([["1", "0"], ["0", "1"]]), "numbers"),
        (None, "rows in lists"),
        ([1, 0], "rows in lists"),
        (pd.DataFrame({"a": [1.0, 1.0]}), "to_numpy"),
        (np.array([[0.5, 0.5]]), "two inputs"),
        ([["0.5", "0.4"], ["0.5", "0.5"]], "row 0"),
        ([[1]], "two inputs"),
    ],
    ids=["sum", "negative", "nan", "flat", "words", "nothing", "no rows", "frame", "one row", "inexact", "one entry"],
)
def test_what_is_no_matrix_of_probabilities_is_refused(entries: object, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        matrix(entries)  # type: ignore[arg-type]


def test_names_and_neighbours_are_checked() -> None:
    with pytest.raises(BadArgument, match="each row and each column"):
        matrix(STEPS, inputs=["a", "b"])
    with pytest.raises(BadArgument, match="adjacency"):
        matrix(STEPS, adjacency="circle")  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="different inputs"):
        matrix(STEPS, adjacency=[(0, 0)])
    with pytest.raises(BadArgument, match="pairs of inputs"):
        matrix(STEPS, adjacency=[(0, 7)])
    assert dict(matrix(STEPS, adjacency="line").facts)["ordered pairs of neighbours"] == "4"
    assert float(matrix(STEPS, adjacency="line").line("ε").low) == pytest.approx(math.log(2))
    assert float(matrix(STEPS).line("ε").low) == pytest.approx(math.log(4))
