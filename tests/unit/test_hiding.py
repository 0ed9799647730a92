"""The record of how well reports hide each other: bad input, and its way through the accountant."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting import events as ev
from sfumato.accounting.amplify.local_search import local_epsilon
from sfumato.accounting.codec import from_json, to_json
from sfumato.errors import BadArgument

BAD: dict[str, Callable[[], object]] = {
    "one option": lambda: ev.Hiding.of_response(1, 1),
    "less truth than chance": lambda: ev.Hiding.of_response(4, "1/5"),
    "nothing but the truth": lambda: ev.Hiding.of_response(4, 1),
    "bits never set": lambda: ev.Hiding.of_bits("1/2", 0),
    "all of the subset": lambda: ev.Hiding.of_subsets(4, 4, "1/2"),
    "more in common than there is": lambda: ev.Hiding("1/2", share="1/4", overlap="1/2"),
    "less in common than there must be": lambda: ev.Hiding("4/5", share="3/4"),
    "no record": lambda: ev.ShuffledProtocol(ev.Response(1), 10, 3),  # type: ignore[arg-type]
    "no reports": lambda: ev.ShuffledProtocol(ev.Response(1), 0, ev.Hiding.of_hadamard("3/4")),
    "no protocol": lambda: local_epsilon(1, delta=1e-6, reports=10, protocol=lambda epsilon0: 3),  # type: ignore[arg-type,return-value]
    "no delta": lambda: local_epsilon(1, delta=0, reports=10),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name: str) -> None:
    with pytest.raises(BadArgument):
        BAD[name]()


def test_the_one_fold_uses_the_record() -> None:
    hiding = ev.Hiding.of_response(5, Fraction(2, 5))
    known = ev.ShuffledProtocol(ev.Response(1, options=5), 1000, hiding)
    profiles = [
        sf.total(event, sf.accounting.Profile, relation=sf.accounting.Relation.CHANGE_ONE)
        for event in (known, ev.Shuffled(ev.Response(1, options=5), 1000))
    ]
    assert profiles[0].epsilon(1e-6) < profiles[1].epsilon(1e-6)
    assert from_json(to_json(known)) == known
