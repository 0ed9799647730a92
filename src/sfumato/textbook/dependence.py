"""How far one exchanged row moves measures of dependence: the closed forms of PrivBayes (Zhang et al. 2017).

They are for data of a public size of which one row is exchanged. What this package scores structures by has a map of
its own, for rows that are added or removed (`sfumato.transforms.dependence`); nothing is charged by these formulas.
"""

from __future__ import annotations

from fractions import Fraction

from sfumato.exact import Extended, ball, integer, upper


def information_sensitivity(rows: int, *, binary: bool = False) -> Extended:
    """How far one exchanged row moves mutual information in bits, at most; less if a side is ``binary``.

    >>> [round(float(information_sensitivity(rows, binary=True)), 6) for rows in (3, 4, 5, 6)]
    [0.918296, 0.811278, 0.721928, 0.650022]
    >>> round(float(information_sensitivity(3)), 6), round(float(information_sensitivity(5)), 6)
    (1.333333, 1.101955)
    """
    size = integer(rows, "rows", least=1)
    if size == 1:
        return Fraction(0)  # of one row all entropies are 0
    rest = Fraction(size - 1, size)
    if binary:
        return upper(lambda: (ball(size).log() / size + ball(rest) * ball(1 / rest).log()) / ball(2).log())
    half, beside = Fraction(size + 1, 2), Fraction(size + 1, size - 1)
    return upper(lambda: (ball(Fraction(2, size)) * ball(half).log() + ball(rest) * ball(beside).log()) / ball(2).log())


def departure_sensitivity(rows: int) -> Fraction:
    """How far one exchanged row moves R = ½ Σ|P(x, y) − P(x) P(y)|, at most: 3 / n + 2 / n².

    >>> departure_sensitivity(10)
    Fraction(8, 25)
    """
    size = integer(rows, "rows", least=1)
    return Fraction(3, size) + Fraction(2, size**2)
