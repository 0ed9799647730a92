"""Networks from a table to rows: charged before rows are read, once, and within what the schema allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
import polars as pl
import pytest
from tests.examples.small_tables import FACTS, columns, session_of

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, LimitReached
from sfumato.learn import LogisticRegression
from sfumato.synth import MST
from sfumato.synth.neural.detectors import NoConvergence
from sfumato.synth.neural.dp_gan import DPCTGAN, DPGAN
from sfumato.synth.neural.fitting import Game
from sfumato.synth.neural.generator import NetworkSettings
from sfumato.synth.neural.history import History
from sfumato.synth.neural.pate_gan import PATECTGAN, PATEGAN
from sfumato.synth.neural.quail import QUAIL, split
from sfumato.synth.neural.recipe import NeuralSynthesizer

LOSS = sf.Approx(3, 1e-6)
SMALL = NetworkSettings(hidden=16, latent=8, made_up=64)
QUICK: dict[str, Any] = {"loss": LOSS, "settings": SMALL, "detect": False}
RECIPES = [
    DPGAN(**QUICK, size=400, epochs=2),
    DPCTGAN(**QUICK, size=400, epochs=2),
    PATEGAN(**QUICK, size=400, teachers=8, queries=20, rounds=4),
    PATECTGAN(**QUICK, teachers=8, queries=20, rounds=4),
]


@final
@dataclass(frozen=True)
class LostGame:
    """A game that the discriminator has won, as is written down of it."""

    of: Game

    @property
    def settings(self) -> NetworkSettings:
        return self.of.settings

    @property
    def statistics(self) -> None:
        return None

    def event(self, units: Fraction) -> Any:
        return self.of.event(units)

    def facts(self) -> Any:
        return self.of.facts()

    def played(self, opened: Any, conditions: Any, entropy: Any) -> tuple[Any, History]:
        weights, history = self.of.played(opened, conditions, entropy)
        return weights, replace(history, right=np.ones(len(history)))


@final
@dataclass(frozen=True, kw_only=True)
class Lost(NeuralSynthesizer):
    """A recipe whose game goes wrong."""

    name: ClassVar[str] = "lost"
    sized: ClassVar[bool] = True
    proofs: ClassVar[tuple[str, ...]] = ()
    loss: Any = None
    epsilon: Any = None
    delta: Any = None
    size: int | None = 400
    detect: bool = True

    def game(self, rows: Any, size: int, loss: Any) -> Game:
        return LostGame(RECIPES[0].game(rows, size, loss))


def named(recipe: Any) -> str:
    return str(recipe.name)


@pytest.mark.parametrize("recipe", RECIPES, ids=named)
def test_a_fit_is_charged_once_and_its_rows_are_within_the_schema(recipe: Any, tmp_path: Path) -> None:
    session = session_of(ledger=f"sqlite:///{tmp_path / 'book.db'}")
    made = recipe.fit(session.table(), max_rows=1, key="first")
    assert session.spent.within(LOSS) and session.spent.epsilon > Fraction(29, 10)
    assert made.release is not None and made.release.charged and made.loss == LOSS
    again = recipe.fit(session.table(), max_rows=1, key="first")
    assert session.spent.within(LOSS)  # the same key costs nothing more
    assert np.array_equal(again.model.weights, made.model.weights)
    rows = made.sample(300)
    assert rows.columns == ["sex", "age", "job"]
    assert set(rows["sex"].drop_nulls()) <= {"f", "m"} and set(rows["job"].drop_nulls()) <= {"x", "y", "z"}
    assert rows["age"].drop_nulls().is_between(0, 100).all()
    assert 300 < made.rows < 500
    fixed = made.sample(50, given={"sex": "f", "job": "y"})
    assert fixed["sex"].unique().to_list() == ["f"] and fixed["job"].unique().to_list() == ["y"]
    assert recipe.name in str(made) and "[uncharged]" not in str(made)


@pytest.mark.parametrize("recipe", RECIPES, ids=named)
def test_what_a_session_cannot_pay_is_refused_before_a_row_is_read(recipe: Any) -> None:
    session = session_of(limit=sf.Approx(1, 1e-6))
    assert "nothing was spent" in str(recipe.explain(session.table(), max_rows=1))
    with pytest.raises(LimitReached):
        recipe.fit(session.table(), max_rows=1, key="too much")
    assert session.spent.epsilon == 0


@pytest.mark.parametrize("recipe", RECIPES, ids=named)
def test_people_with_several_rows_are_one_unit_each(recipe: Any) -> None:
    session = session_of(each=2)
    made = recipe.fit(session.table(), max_rows=2, key="people")
    assert session.spent.within(LOSS) and made.unit == "a person"
    with pytest.raises(sf.errors.QueryRefused, match="max_rows"):
        recipe.fit(session.table(), key="endless")


@pytest.mark.parametrize("recipe", RECIPES, ids=named)
def test_rows_that_one_holds_are_uncharged_and_the_same_for_the_same_entropy(recipe: Any) -> None:
    frame = pl.DataFrame(columns())
    made = [recipe.fit(frame, **FACTS, entropy=ReplayEntropy(8)) for _ in range(2)]
    assert made[0].release is None and "[uncharged]" in str(made[0])
    assert np.array_equal(made[0].model.weights, made[1].model.weights)
    people = recipe.fit(frame, **FACTS, people=[row // 4 for row in range(400)], max_rows=2)
    assert len(people.sample(10)) == 10
    none = recipe.fit(frame.head(0), **FACTS)
    assert len(none.sample(5)) == 5


def test_rows_that_cannot_be_are_never_made_and_a_model_comes_back_from_disk(tmp_path: Path) -> None:
    never: list[dict[str, object]] = [{"sex": "f", "job": "x"}, {"age": {"between": (0, 40)}, "job": "z"}]
    made = RECIPES[1].fit(pl.DataFrame(columns()), **FACTS, impossible=never)
    rows = made.sample(500)
    assert not len(rows.filter((pl.col("sex") == "f") & (pl.col("job") == "x")))
    made.save(tmp_path / "made.json")
    kept = sf.synth.load(tmp_path / "made.json")
    one, other = (each.sample(200, entropy=ReplayEntropy(5)) for each in (made, kept))
    assert one.equals(other)
    assert len(rows.filter(pl.col("sex") == "f")) and len(rows.filter(pl.col("job") == "x"))


def test_counts_of_a_conditional_network_are_shown_with_their_noise() -> None:
    made = RECIPES[1].fit(pl.DataFrame(columns()), **FACTS)
    assert [one.columns for one in made.measured] == [("sex",), ("age",), ("job",)]
    assert all(one.deviation > 1 for one in made.measured)
    assert RECIPES[0].fit(pl.DataFrame(columns()), **FACTS).measured == ()


def test_a_game_that_went_wrong_raises_and_what_it_made_can_still_be_had() -> None:
    session = session_of()
    with pytest.raises(NoConvergence, match="detect=False"):
        Lost(loss=LOSS).fit(session.table(), max_rows=1, key="lost")
    spent = session.spent
    assert spent.within(LOSS) and spent.epsilon > 0
    made = Lost(loss=LOSS, detect=False).fit(session.table(), max_rows=1, key="lost")
    assert session.spent == spent and len(made.sample(5)) == 5
    assert "right about 100% of made-up rows" in str(made)


@pytest.mark.parametrize("detect", [True, False])
def test_a_key_is_for_one_recipe_however_carefully_it_is_looked_over(detect: bool) -> None:
    session = session_of()
    RECIPES[0].fit(session.table(), max_rows=1, key="one")
    spent = session.spent
    other = DPGAN(loss=LOSS, settings=SMALL, detect=detect, size=400, epochs=3)
    with pytest.raises(sf.errors.SfumatoError):
        other.fit(session.table(), max_rows=1, key="one")
    assert session.spent == spent


@pytest.mark.slow
def test_a_conditional_network_learns_what_columns_have_to_do_with_each_other() -> None:
    frame = pl.DataFrame(columns(4_000))
    made = DPCTGAN(loss=sf.Approx(8, 1e-5)).fit(frame, **FACTS)
    rows = made.sample(4_000)
    means = dict(rows.drop_nulls().group_by("sex").agg(pl.col("age").mean()).iter_rows())
    assert means["m"] - means["f"] > 10  # it is 35 in the data, and 0 of independent columns


def test_what_cannot_be_trained_is_refused_unpaid() -> None:
    session = session_of()
    for recipe, said in (
        (DPGAN(loss=LOSS), "size"),
        (DPGAN(loss=sf.Pure(1), size=400), "PATEGAN"),
        (DPGAN(loss=LOSS, size=400, batch=500), "batch"),
        (DPCTGAN(loss=LOSS, size=400, share=1), "share"),
        (PATEGAN(loss=LOSS, size=400, teachers=1), "teachers"),
        (PATEGAN(loss=LOSS, size=400, rounds=500), "rounds"),
    ):
        with pytest.raises(BadArgument, match=said):
            recipe.fit(session.table(), max_rows=1, key="refused")
    with pytest.raises(BadArgument, match="bounds or categories"):
        DPGAN(loss=LOSS).fit(pl.DataFrame(columns()))
    with pytest.raises(BadArgument, match="max_rows and key"):
        DPGAN(loss=LOSS).fit(pl.DataFrame(columns()), **FACTS, key="k")
    assert session.spent.epsilon == 0


@pytest.mark.parametrize("loss", [sf.Pure(1), sf.ZCDP("1/10"), sf.Approx(2, 1e-6)])
@pytest.mark.parametrize("share", ["1/2", "0.3"])
def test_P3_064_the_parts_of_quail_add_up_to_the_whole(loss: Any, share: Any) -> None:
    features, labels = split(loss, share)
    assert features.then(labels) == loss and labels == loss.scaled(Fraction(share))


@pytest.mark.parametrize("synthesizer", [MST(), RECIPES[1]], ids=named)
def test_P3_064_quail_labels_synthetic_features_by_a_private_classifier(synthesizer: Any) -> None:
    session = session_of(2_000)
    recipe = QUAIL(loss=LOSS, target="job", synthesizer=synthesizer)
    made = recipe.fit(session.table(), max_rows=1, key="both")
    assert session.spent.within(LOSS)
    assert [loss for _, loss in made.spent[-1:]] == [LOSS.scaled(Fraction(1, 2))]
    recipe.fit(session.table(), max_rows=1, key="both")
    assert session.spent.within(LOSS)
    rows = made.sample(500)
    assert rows.columns == ["sex", "age", "job"] and set(rows["job"]) <= {"x", "y", "z"}
    assert made.sample(40, given={"job": "z"})["job"].unique().to_list() == ["z"]
    assert made.marginal(["sex", "job"]).shape == (3, 4)
    older = rows.drop_nulls().filter(pl.col("age") > 60)["job"].to_list()
    if isinstance(synthesizer, MST):  # of a network of two epochs hardly a row is so old
        assert older.count("x") > older.count("z")


def test_quail_takes_other_classifiers_and_rows_that_one_holds() -> None:
    recipe = QUAIL(loss=sf.Pure(8), target="job", synthesizer=MST(), classifier=LogisticRegression())
    made = recipe.fit(pl.DataFrame(columns(1_000)), **FACTS)
    assert made.release is None and set(made.sample(100)["job"]) <= {"x", "y", "z"}
    with pytest.raises(BadArgument, match="target"):
        QUAIL(loss=sf.Pure(8), target="age", synthesizer=MST()).fit(pl.DataFrame(columns()), **FACTS)
