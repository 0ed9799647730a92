"""Trees have the running intersection property, few cells, and are refused before they are built."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.synth.graph.joints import SHAPES, SMALL

from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.junction import JunctionTree, cells_of, explain, junction_tree

names = st.sampled_from("abcdefgh")
cliques_of_eight = st.lists(st.lists(names, min_size=1, max_size=4, unique=True), max_size=12)
EIGHT = Domain(tuple("abcdefgh"), (2, 3, 4, 2, 5, 3, 2, 6))


def assert_is_a_tree_of(tree: JunctionTree, domain: Domain, cliques: list[tuple[str, ...]]) -> None:
    sets = [set(clique) for clique in tree.cliques]
    speaking = {name for name in domain.names if domain.size([name]) > 1}
    assert set().union(*sets) == speaking == set(tree.order)
    for clique in cliques:
        assert any(set(clique) & speaking <= one for one in sets)
    assert not any(one < other for one in sets for other in sets)
    for place, (clique, shared, parent) in enumerate(zip(tree.cliques, tree.separators, tree.parents, strict=True)):
        assert clique == tuple(name for name in tree.order if name in clique)
        assert clique[len(clique) - len(shared) :] == shared
        assert parent == -1 or parent > place
        assert set(shared) == (sets[place] & sets[parent] if parent >= 0 else set())
    for name in speaking:  # running intersection: one clique has it and its parent has not
        tops = [
            p
            for p, one in enumerate(sets)
            if name in one and (tree.parents[p] < 0 or name not in sets[tree.parents[p]])
        ]
        assert len(tops) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_trees_of_every_shape(shape: str) -> None:
    tree = junction_tree(SMALL, SHAPES[shape])
    assert_is_a_tree_of(tree, SMALL, SHAPES[shape])
    assert tree.cells == cells_of(SMALL, SHAPES[shape]) == sum(math.prod(SMALL.shape(one)) for one in tree.cliques)


@given(cliques_of_eight, st.lists(names, max_size=3, unique=True))
def test_trees_of_any_cliques(cliques: list[list[str]], last: list[str]) -> None:
    chosen = [tuple(clique) for clique in cliques]
    tree = junction_tree(EIGHT, chosen, last=last)
    assert_is_a_tree_of(tree, EIGHT, [*chosen, tuple(last)])
    if last:
        (root,) = [one for one, parent in zip(tree.cliques, tree.parents, strict=True) if parent < 0 and last[0] in one]
        assert set(root[len(root) - len(last) :]) == set(last)


def test_the_cells_of_known_trees() -> None:
    tens = Domain(tuple("abcd"), (10, 10, 10, 10))
    assert cells_of(tens, [("a", "b"), ("b", "c"), ("c", "d")]) == 300
    assert cells_of(tens, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]) == 2000
    assert cells_of(tens, [("a", "b", "c", "d")]) == 10_000
    assert cells_of(tens, []) == 40
    assert cells_of(Domain((), ()), []) == 0
    assert cells_of(Domain(("a",), (1,)), [("a",)]) == 0


def test_A3_049_too_many_cells_are_refused_before_any_exists() -> None:
    """A cube of 10³⁰ cells: no memory could hold it, so that only a refusal before allocation can come back."""
    wide = Domain(tuple(f"c{place}" for place in range(30)), (10,) * 30)
    with pytest.raises(BadArgument, match=r"at most 1,000 cells.*c0 \(10 codes\).*22 more.*fewer codes"):
        junction_tree(wide, [wide.names], most_cells=1000)
    assert cells_of(wide, [wide.names]) == 10**30
    assert "as it is" in explain(wide, [("c0", "c1")])
