from .choosing import Candidate, candidates, frequencies, why
from .collecting.batches import Batch
from .collecting.collector import Collector
from .collecting.faults import StoreUnavailable
from .dropouts import Dropouts, dropouts
from .forgery import Manipulation, Worst, manipulation
from .frequency import Frequencies, FrequencyProtocol
from .hashing import LocalHashing
from .metric_responses import MetricResponse, metric_response
from .one_of import OneOf
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffling import Shuffled, shuffled
from .survey import Belief, CoinSurvey, Deniability, SurveyEstimate, SurveyPlan
from .unary import UnaryEncoding
from .values import Values
from .vectors import MeanVector, VectorMean, vectors

__all__ = [
    "Batch",
    "Belief",
    "Candidate",
    "CoinSurvey",
    "Collector",
    "Deniability",
    "Dropouts",
    "Frequencies",
    "FrequencyProtocol",
    "Layout",
    "LocalHashing",
    "LocalProtocol",
    "Manipulation",
    "MeanVector",
    "MetricResponse",
    "OneOf",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "Rejected",
    "Reports",
    "Response",
    "Shuffled",
    "StoreUnavailable",
    "SurveyEstimate",
    "SurveyPlan",
    "Tally",
    "UnaryEncoding",
    "Values",
    "VectorMean",
    "Worst",
    "candidates",
    "dropouts",
    "frequencies",
    "manipulation",
    "metric_response",
    "places",
    "shuffled",
    "vectors",
    "why",
]
