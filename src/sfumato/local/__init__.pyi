from .choosing import Candidate, candidates, frequencies, why
from .frequency import Frequencies, FrequencyProtocol
from .geometry import GeometryResponse, HadamardResponse
from .hashing import LocalHashing
from .metric_responses import MetricResponse, metric_response
from .one_of import OneOf
from .optimum import least_error
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffling import Shuffled, shuffled
from .subsets import SubsetSelection
from .survey import Belief, CoinSurvey, Deniability, SurveyEstimate, SurveyPlan
from .unary import UnaryEncoding
from .values import Values

__all__ = [
    "Belief",
    "Candidate",
    "CoinSurvey",
    "Deniability",
    "Frequencies",
    "FrequencyProtocol",
    "GeometryResponse",
    "HadamardResponse",
    "Layout",
    "LocalHashing",
    "LocalProtocol",
    "MetricResponse",
    "OneOf",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "Rejected",
    "Reports",
    "Response",
    "Shuffled",
    "SubsetSelection",
    "SurveyEstimate",
    "SurveyPlan",
    "Tally",
    "UnaryEncoding",
    "Values",
    "candidates",
    "frequencies",
    "least_error",
    "metric_response",
    "places",
    "shuffled",
    "why",
]
