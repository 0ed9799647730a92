"""The classes that the codec stores, each under the name it keeps for ever.

A new class is added here by hand. A name is never given to another class, and no class is looked up by its module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.accounting import events, shapes
from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.adaptive.odometers import AnytimeOdometer, SumOdometer
from sfumato.accounting.adaptive.slots import Slots
from sfumato.accounting.amplify.curves_fixed import FixedSizeCurve, TruncatedCurve
from sfumato.accounting.amplify.curves_poisson import PoissonCurve, SampledGaussianCurve
from sfumato.accounting.concentrated import GDP, ApproxZCDP
from sfumato.accounting.facts.selection import ExponentialSelection, NoisyMaximum, PermuteAndFlip, TopSelection
from sfumato.accounting.measures import ZCDP, Approx, BoundedRange, Pure
from sfumato.accounting.pairs.either import EitherPair, RangePair
from sfumato.accounting.pairs.exchanged import ExchangedNoisePair
from sfumato.accounting.pairs.finite import ApproxPair, FinitePair, ResponsePair
from sfumato.accounting.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pairs.integer import IntegerNoisePair
from sfumato.accounting.pairs.laplace import LaplacePair
from sfumato.accounting.pairs.mixed import MixedPair
from sfumato.accounting.pairs.sampled import AddedPair, ExchangedPair, RemovedPair
from sfumato.accounting.pld import PLD
from sfumato.accounting.profile import Profile
from sfumato.accounting.renyi import Grouped, Largest, Renyi
from sfumato.accounting.selected_curves import PoissonSelectedCurve, SelectedCurve
from sfumato.accounting.trade_off import TradeOff
from sfumato.noise.binomial import Binomial
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.staircase import Staircase

Make: TypeAlias = Callable[..., object]


@final
@dataclass(frozen=True)
class Record:
    """Is a class that can be stored, and how it is made again from its fields."""

    record: type
    make: Callable[[dict[str, object]], object]


def _by_field(kind: Make) -> Callable[[dict[str, object]], object]:
    return lambda parts: kind(**parts)


def _with_parts(kind: Make) -> Callable[[dict[str, object]], object]:
    """Makes a class whose ``parts`` are its positional arguments."""

    def make(fields: dict[str, object]) -> object:
        parts = fields.pop("parts")
        if not isinstance(parts, tuple):
            raise TypeError
        return kind(*parts, **fields)

    return make


BY_FIELD: Mapping[str, type] = {
    "Gaussian": events.Gaussian,
    "Laplace": events.Laplace,
    "Noise": events.Noise,
    "Selection": events.Selection,
    "Response": events.Response,
    "Stated": events.Stated,
    "Repeat": events.Repeat,
    "Sampled": events.Sampled,
    "Shuffled": events.Shuffled,
    "Tree": events.Tree,
    "RepeatAndSelect": events.RepeatAndSelect,
    "Poisson": events.Poisson,
    "TruncatedPoisson": events.TruncatedPoisson,
    "WithoutReplacement": events.WithoutReplacement,
    "WithReplacement": events.WithReplacement,
    "TruncatedNegativeBinomial": events.TruncatedNegativeBinomial,
    "PoissonRuns": events.PoissonRuns,
    "Pure": Pure,
    "Approx": Approx,
    "ZCDP": ZCDP,
    "ApproxZCDP": ApproxZCDP,
    "GDP": GDP,
    "BoundedRange": BoundedRange,
    "Renyi": Renyi,
    "Profile": Profile,
    "TradeOff": TradeOff,
    "PLD": PLD,
    "Linear": shapes.Linear,
    "PureCurve": shapes.PureCurve,
    "ResponseCurve": shapes.ResponseCurve,
    "RangeCurve": shapes.RangeCurve,
    "LaplaceCurve": shapes.LaplaceCurve,
    "DiscreteLaplaceCurve": shapes.DiscreteLaplaceCurve,
    "Tabulated": shapes.Tabulated,
    "Largest": Largest,
    "Grouped": Grouped,
    "SampledGaussianCurve": SampledGaussianCurve,
    "PoissonCurve": PoissonCurve,
    "FixedSizeCurve": FixedSizeCurve,
    "TruncatedCurve": TruncatedCurve,
    "SelectedCurve": SelectedCurve,
    "PoissonSelectedCurve": PoissonSelectedCurve,
    "GaussianPair": GaussianPair,
    "ExchangedGaussianPair": ExchangedGaussianPair,
    "ExchangedNoisePair": ExchangedNoisePair,
    "LaplacePair": LaplacePair,
    "ResponsePair": ResponsePair,
    "ApproxPair": ApproxPair,
    "FinitePair": FinitePair,
    "IntegerNoisePair": IntegerNoisePair,
    "RemovedPair": RemovedPair,
    "AddedPair": AddedPair,
    "ExchangedPair": ExchangedPair,
    "MixedPair": MixedPair,
    "EitherPair": EitherPair,
    "RangePair": RangePair,
    "SumFilter": SumFilter,
    "AdvancedFilter": AdvancedFilter,
    "Slots": Slots,
    "SumOdometer": SumOdometer,
    "AnytimeOdometer": AnytimeOdometer,
    "ExponentialSelection": ExponentialSelection,
    "TopSelection": TopSelection,
    "PermuteAndFlip": PermuteAndFlip,
    "NoisyMaximum": NoisyMaximum,
    "DiscreteLaplace": DiscreteLaplace,
    "DiscreteGaussian": DiscreteGaussian,
    "Staircase": Staircase,
    "Truncated": Truncated,
    "Binomial": Binomial,
}
"""Classes that are made from their fields by name."""

BY_PARTS: Mapping[str, type] = {
    "Sequence": events.Sequence,
    "Parallel": events.Parallel,
    "Mixture": events.Mixture,
}

RECORDS: Mapping[str, Record] = {
    **{name: Record(kind, _by_field(kind)) for name, kind in BY_FIELD.items()},
    **{name: Record(kind, _with_parts(kind)) for name, kind in BY_PARTS.items()},
}

NAMES: Mapping[type, str] = {record.record: name for name, record in RECORDS.items()}
