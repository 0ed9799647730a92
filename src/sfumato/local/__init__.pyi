from .all_of import AllOf
from .attributes import AttributePlan, Attributes, attribute_plans, attributes
from .choosing import Candidate, candidates, frequencies, why
from .collecting.batches import Batch
from .collecting.collector import Collector
from .collecting.faults import StoreUnavailable
from .dbitflip import DBitFlip, dbitflip
from .dropouts import Dropouts, dropouts
from .filter_counts import DecodedTexts, FilterCounts
from .forgery import Manipulation, Worst, manipulation
from .frequency import Frequencies, FrequencyProtocol
from .hashing import LocalHashing
from .heavy_hitters import HeavyHitters, heavy_hitters
from .heavy_rounds import HeavyRounds, PrefixFrequencies, heavy_hitter_rounds
from .heavy_values import HeavyValue, HeavyValues
from .item_counts import ItemCounts
from .item_sets import ItemSets, itemsets
from .joint import Joint, JointPlan, joint, joint_plans
from .joint_tables import JointTable, JointTables
from .lasting import LastingProtocol
from .leaders import Leader
from .linear_counts import LinearCounts
from .memoised import Memoised, loloha, memoised
from .metric_responses import MetricResponse, metric_response
from .one_of import OneOf
from .one_true import OneTrue
from .pair_estimates import KeyValueEstimate
from .pairs import KeyValues, key_values
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .range_estimates import RangeCount, RangeEstimate
from .ranges import RangePlan, Ranges, range_plans, ranges
from .rappor import Rappor, rappor
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffling import Shuffled, calibrated, shuffled, shuffled_loss
from .signed import SignedResponse
from .signs import HadamardSign
from .sketches import CountMeanSketch, HadamardSketch
from .spelled import WholeNumbers, Words
from .stages import BitsAgain, NumberAgain, SameAgain
from .survey import Belief, CoinSurvey, Deniability, SurveyEstimate, SurveyPlan
from .text_counts import TextCounts
from .tracked import Tracked, tracked
from .unary import UnaryEncoding
from .values import Values
from .vectors import MeanVector, VectorMean, vectors
from .windowed import Windowed, windowed

__all__ = [
    "AllOf",
    "AttributePlan",
    "Attributes",
    "Batch",
    "Belief",
    "BitsAgain",
    "Candidate",
    "CoinSurvey",
    "Collector",
    "CountMeanSketch",
    "DBitFlip",
    "DecodedTexts",
    "Deniability",
    "Dropouts",
    "FilterCounts",
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
    "Joint",
    "JointPlan",
    "JointTable",
    "JointTables",
    "KeyValueEstimate",
    "KeyValues",
    "LastingProtocol",
    "Layout",
    "Leader",
    "LinearCounts",
    "LocalHashing",
    "LocalProtocol",
    "Manipulation",
    "MeanVector",
    "Memoised",
    "MetricResponse",
    "NumberAgain",
    "OneOf",
    "OneTrue",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "PrefixFrequencies",
    "RangeCount",
    "RangeEstimate",
    "RangePlan",
    "Ranges",
    "Rappor",
    "Rejected",
    "Reports",
    "Response",
    "SameAgain",
    "Shuffled",
    "SignedResponse",
    "StoreUnavailable",
    "SurveyEstimate",
    "SurveyPlan",
    "Tally",
    "TextCounts",
    "Tracked",
    "UnaryEncoding",
    "Values",
    "VectorMean",
    "WholeNumbers",
    "Windowed",
    "Words",
    "Worst",
    "attribute_plans",
    "attributes",
    "calibrated",
    "candidates",
    "dbitflip",
    "dropouts",
    "frequencies",
    "heavy_hitter_rounds",
    "heavy_hitters",
    "itemsets",
    "joint",
    "joint_plans",
    "key_values",
    "loloha",
    "manipulation",
    "memoised",
    "metric_response",
    "places",
    "range_plans",
    "ranges",
    "rappor",
    "shuffled",
    "shuffled_loss",
    "tracked",
    "vectors",
    "why",
    "windowed",
]
