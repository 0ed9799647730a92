from .choosing import Candidate, candidates, frequencies, why
from .distributions import Distribution
from .dithered import DitheredMean
from .frequency import Frequencies, FrequencyProtocol
from .hashing import LocalHashing
from .hybrid import HybridMean
from .mean_choosing import MeanCandidate, mean, mean_candidates, why_mean
from .mean_reports import MeanEstimate, MeanProtocol
from .metric_responses import MetricResponse, metric_response
from .numbers import Buckets, Numbers
from .one_of import OneOf
from .piecewise import PiecewiseMean
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffling import Shuffled, shuffled
from .square_wave import SquareWave, distribution
from .survey import Belief, CoinSurvey, Deniability, SurveyEstimate, SurveyPlan
from .two_valued import TwoValuedMean
from .unary import UnaryEncoding
from .values import Values

__all__ = [
    "Belief",
    "Buckets",
    "Candidate",
    "CoinSurvey",
    "Deniability",
    "Distribution",
    "DitheredMean",
    "Frequencies",
    "FrequencyProtocol",
    "HybridMean",
    "Layout",
    "LocalHashing",
    "LocalProtocol",
    "MeanCandidate",
    "MeanEstimate",
    "MeanProtocol",
    "MetricResponse",
    "Numbers",
    "OneOf",
    "PiecewiseMean",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "Rejected",
    "Reports",
    "Response",
    "Shuffled",
    "SquareWave",
    "SurveyEstimate",
    "SurveyPlan",
    "Tally",
    "TwoValuedMean",
    "UnaryEncoding",
    "Values",
    "candidates",
    "distribution",
    "frequencies",
    "mean",
    "mean_candidates",
    "metric_response",
    "places",
    "shuffled",
    "why",
    "why_mean",
]
