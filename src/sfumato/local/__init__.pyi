from .all_of import AllOf
from .attributes import AttributePlan, Attributes, attribute_plans, attributes
from .choosing import Candidate, candidates, frequencies, why
from .collecting.batches import Batch
from .collecting.collector import Collector
from .collecting.faults import StoreUnavailable
from .comparing import Compared, Comparison, compare
from .dbitflip import DBitFlip, dbitflip
from .distributions import Distribution
from .dithered import DitheredMean
from .drawing import plot_value
from .dropouts import Dropouts, dropouts
from .filter_counts import DecodedTexts, FilterCounts
from .forgery import Manipulation, Worst, manipulation
from .frequency import Frequencies, FrequencyProtocol
from .geometry import GeometryResponse, HadamardResponse
from .hashing import LocalHashing
from .heavy_hitters import HeavyHitters, heavy_hitters
from .heavy_rounds import HeavyRounds, PrefixFrequencies, heavy_hitter_rounds
from .heavy_values import HeavyValue, HeavyValues
from .hybrid import HybridMean
from .item_counts import ItemCounts
from .item_sets import ItemSets, itemsets
from .joint import Joint, JointPlan, joint, joint_plans
from .joint_tables import JointTable, JointTables
from .lasting import LastingProtocol
from .leaders import Leader
from .linear_counts import LinearCounts
from .mean_choosing import MeanCandidate, mean, mean_candidates, why_mean
from .mean_reports import MeanEstimate, MeanProtocol
from .memoised import Memoised, loloha, memoised
from .metric_responses import MetricResponse, metric_response
from .numbers import Buckets, Numbers
from .one_of import OneOf
from .one_true import OneTrue
from .optimum import least_error
from .pair_estimates import KeyValueEstimate
from .pairs import KeyValues, key_values
from .piecewise import PiecewiseMean
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .questionnaire import Questionnaire, truth_for
from .range_estimates import RangeCount, RangeEstimate
from .ranges import RangePlan, Ranges, range_plans, ranges
from .rappor import Rappor, rappor
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffle_gains import ShuffleGain, ShuffleGains, shuffle_gains
from .shuffling import Shuffled, calibrated, shuffled, shuffled_loss
from .signed import SignedResponse
from .signs import HadamardSign
from .sketches import CountMeanSketch, HadamardSketch
from .spelled import WholeNumbers, Words
from .square_wave import SquareWave, distribution
from .stages import BitsAgain, NumberAgain, SameAgain
from .subsets import SubsetSelection
from .survey import Belief, CoinSurvey, Deniability
from .survey_cheating import Cheating, find_cheating
from .survey_choice import ChoiceEstimate, ChoiceSurvey
from .survey_estimates import DoubtedShare, SurveyEstimate, SurveyPlan
from .survey_plans import SurveySizes, survey_sizes
from .text_counts import TextCounts
from .tracked import Tracked, tracked
from .two_valued import TwoValuedMean
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
    "Buckets",
    "Candidate",
    "Cheating",
    "ChoiceEstimate",
    "ChoiceSurvey",
    "CoinSurvey",
    "Collector",
    "Compared",
    "Comparison",
    "CountMeanSketch",
    "DBitFlip",
    "DecodedTexts",
    "Deniability",
    "Distribution",
    "DitheredMean",
    "DoubtedShare",
    "Dropouts",
    "FilterCounts",
    "Frequencies",
    "FrequencyProtocol",
    "GeometryResponse",
    "HadamardResponse",
    "HadamardSign",
    "HadamardSketch",
    "HeavyHitters",
    "HeavyRounds",
    "HeavyValue",
    "HeavyValues",
    "HybridMean",
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
    "MeanCandidate",
    "MeanEstimate",
    "MeanProtocol",
    "MeanVector",
    "Memoised",
    "MetricResponse",
    "NumberAgain",
    "Numbers",
    "OneOf",
    "OneTrue",
    "PiecewiseMean",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "PrefixFrequencies",
    "Questionnaire",
    "RangeCount",
    "RangeEstimate",
    "RangePlan",
    "Ranges",
    "Rappor",
    "Rejected",
    "Reports",
    "Response",
    "SameAgain",
    "ShuffleGain",
    "ShuffleGains",
    "Shuffled",
    "SignedResponse",
    "SquareWave",
    "StoreUnavailable",
    "SubsetSelection",
    "SurveyEstimate",
    "SurveyPlan",
    "SurveySizes",
    "Tally",
    "TextCounts",
    "Tracked",
    "TwoValuedMean",
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
    "compare",
    "dbitflip",
    "distribution",
    "dropouts",
    "find_cheating",
    "frequencies",
    "heavy_hitter_rounds",
    "heavy_hitters",
    "itemsets",
    "joint",
    "joint_plans",
    "key_values",
    "least_error",
    "loloha",
    "manipulation",
    "mean",
    "mean_candidates",
    "memoised",
    "metric_response",
    "places",
    "plot_value",
    "range_plans",
    "ranges",
    "rappor",
    "shuffle_gains",
    "shuffled",
    "shuffled_loss",
    "survey_sizes",
    "tracked",
    "truth_for",
    "vectors",
    "why",
    "why_mean",
    "windowed",
]
