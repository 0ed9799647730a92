from .choosing import Candidate, candidates, frequencies, why
from .frequency import Frequencies, FrequencyProtocol
from .hashing import LocalHashing
from .heavy_hitters import HeavyHitters, heavy_hitters
from .heavy_rounds import HeavyRounds, PrefixFrequencies, heavy_hitter_rounds
from .heavy_values import HeavyValue, HeavyValues
from .item_counts import ItemCounts
from .item_sets import ItemSets, itemsets
from .leaders import Leader
from .metric_responses import MetricResponse, metric_response
from .one_of import OneOf
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffling import Shuffled, shuffled
from .signs import HadamardSign
from .sketches import CountMeanSketch, HadamardSketch
from .spelled import WholeNumbers, Words
from .survey import Belief, CoinSurvey, Deniability, SurveyEstimate, SurveyPlan
from .text_counts import TextCounts
from .unary import UnaryEncoding
from .values import Values
from .vectors import MeanVector, VectorMean, vectors

__all__ = [
    "Belief",
    "Candidate",
    "CoinSurvey",
    "CountMeanSketch",
    "Deniability",
    "Frequencies",
    "FrequencyProtocol",
    "HadamardSign",
    "HadamardSketch",
    "HeavyHitters",
    "HeavyRounds",
    "HeavyValue",
    "HeavyValues",
    "ItemCounts",
    "ItemSets",
    "Layout",
    "Leader",
    "LocalHashing",
    "LocalProtocol",
    "MeanVector",
    "MetricResponse",
    "OneOf",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "PrefixFrequencies",
    "Rejected",
    "Reports",
    "Response",
    "Shuffled",
    "SurveyEstimate",
    "SurveyPlan",
    "Tally",
    "TextCounts",
    "UnaryEncoding",
    "Values",
    "VectorMean",
    "WholeNumbers",
    "Words",
    "candidates",
    "frequencies",
    "heavy_hitter_rounds",
    "heavy_hitters",
    "itemsets",
    "metric_response",
    "places",
    "shuffled",
    "vectors",
    "why",
]
