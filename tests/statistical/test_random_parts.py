"""Random parts are drawn as stated: uniform labels, independent between rows, and a uniform order inside parts.

Chi-square tests at a false-alarm rate of 10⁻⁶ each, on a fixed stream of bits; each also rejects a law 10 % off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

from scipy.stats import chi2

import sfumato as sf
from sfumato.entropy import ReplayEntropy

DRAWS = 20_000
VOUCHED = sf.claim("for this test")


def surprise(found: Counter[Hashable], stated: Mapping[Hashable, float]) -> float:
    """Gives the chance of a chi-square statistic this large under the stated law."""
    total = found.total()
    statistic = sum((found[outcome] - total * p) ** 2 / (total * p) for outcome, p in stated.items())
    return float(chi2.sf(statistic, len(stated) - 1)) if set(found) <= set(stated) else 0.0


def tilted(stated: Mapping[Hashable, float]) -> dict[Hashable, float]:
    """Gives a law in which one outcome is 10 % likelier and another that much rarer."""
    wrong = dict(stated)
    first, *_, last = wrong
    wrong[first], wrong[last] = wrong[first] + 0.1 * wrong[last], 0.9 * wrong[last]
    return wrong


def test_two_rows_fall_independently_and_in_any_order() -> None:
    made, entropy = sf.vector(["a", "b"]) >> sf.transforms.random_parts(2), ReplayEntropy(2026)
    found: Counter[Hashable] = Counter(
        tuple("".join(part) for part in made(["a", "b"], entropy=entropy)) for _ in range(DRAWS)
    )
    stated = {
        ("ab", ""): 1 / 8,
        ("ba", ""): 1 / 8,
        ("a", "b"): 1 / 4,
        ("b", "a"): 1 / 4,
        ("", "ab"): 1 / 8,
        ("", "ba"): 1 / 8,
    }
    assert surprise(found, stated) > 1e-6
    assert surprise(found, tilted(stated)) < 1e-6


def test_identifiers_fall_independently_with_all_their_rows() -> None:
    space = sf.frame({"id": ["u", "v"], "row": int})
    made = space >> sf.transforms.random_parts(3, by="id", claim=VOUCHED)
    data, entropy = {"id": ["u", "v", "u"], "row": [0, 1, 2]}, ReplayEntropy(7)
    found: Counter[Hashable] = Counter()
    for _ in range(DRAWS // 2):
        parts = [sorted(part["row"].tolist()) for part in made(data, entropy=entropy)]
        home = {row: i for i, part in enumerate(parts) for row in part}
        found[home[0], home[1], home[2]] += 1
    stated = {(i, j, i): 1 / 9 for i in range(3) for j in range(3)}
    assert surprise(found, stated) > 1e-6
    wrong = {outcome: (0.8 if outcome[0] == outcome[1] else 1.1) / 9 for outcome in stated}
    assert surprise(found, wrong) < 1e-6


def test_equal_parts_are_any_cut_of_any_order() -> None:
    made, entropy = sf.vector(["a", "b", "c"], size=3) >> sf.transforms.equal_parts(2), ReplayEntropy(11)
    found: Counter[Hashable] = Counter(
        tuple("".join(part) for part in made(["a", "b", "c"], entropy=entropy)) for _ in range(DRAWS // 2)
    )
    stated = {(p[:2], p[2:]): 1 / 6 for p in ("abc", "acb", "bac", "bca", "cab", "cba")}
    assert surprise(found, stated) > 1e-6
    assert surprise(found, {o: (1.1 if o[1] == "c" else 0.95) / 6 for o in stated}) < 1e-6
