from .choosing import Candidate, candidates, frequencies, why
from .frequency import Frequencies, FrequencyProtocol
from .hashing import LocalHashing
from .metric_responses import MetricResponse, metric_response
from .one_of import OneOf
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffling import Shuffled, calibrated, shuffled, shuffled_loss
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
    "SurveyEstimate",
    "SurveyPlan",
    "Tally",
    "UnaryEncoding",
    "Values",
    "calibrated",
    "candidates",
    "frequencies",
    "metric_response",
    "places",
    "shuffled",
    "shuffled_loss",
    "why",
]
