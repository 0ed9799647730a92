from .choosing import Candidate, candidates, frequencies, why
from .dbitflip import DBitFlip, dbitflip
from .filter_counts import FilterCounts, TextCounts
from .frequency import Frequencies, FrequencyProtocol
from .hashing import LocalHashing
from .lasting import LastingProtocol
from .linear_counts import LinearCounts
from .memoised import Memoised, loloha, memoised
from .metric_responses import MetricResponse, metric_response
from .one_of import OneOf
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .rappor import Rappor, rappor
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffling import Shuffled, calibrated, shuffled, shuffled_loss
from .stages import BitsAgain, NumberAgain, SameAgain
from .survey import Belief, CoinSurvey, Deniability, SurveyEstimate, SurveyPlan
from .tracked import Tracked, tracked
from .unary import UnaryEncoding
from .values import Values
from .vectors import MeanVector, VectorMean, vectors
from .windowed import Windowed, windowed

__all__ = [
    "Belief",
    "BitsAgain",
    "Candidate",
    "CoinSurvey",
    "DBitFlip",
    "Deniability",
    "FilterCounts",
    "Frequencies",
    "FrequencyProtocol",
    "LastingProtocol",
    "Layout",
    "LinearCounts",
    "LocalHashing",
    "LocalProtocol",
    "MeanVector",
    "Memoised",
    "MetricResponse",
    "NumberAgain",
    "OneOf",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "Rappor",
    "Rejected",
    "Reports",
    "Response",
    "SameAgain",
    "Shuffled",
    "SurveyEstimate",
    "SurveyPlan",
    "Tally",
    "TextCounts",
    "Tracked",
    "UnaryEncoding",
    "Values",
    "VectorMean",
    "Windowed",
    "calibrated",
    "candidates",
    "dbitflip",
    "frequencies",
    "loloha",
    "memoised",
    "metric_response",
    "places",
    "rappor",
    "shuffled",
    "shuffled_loss",
    "tracked",
    "vectors",
    "why",
    "windowed",
]
