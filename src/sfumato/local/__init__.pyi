from .all_of import AllOf
from .attributes import AttributePlan, Attributes, attribute_plans, attributes
from .choosing import Candidate, candidates, frequencies, why
from .frequency import Frequencies, FrequencyProtocol
from .hashing import LocalHashing
from .joint import Joint, JointPlan, joint, joint_plans
from .joint_tables import JointTable, JointTables
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
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffling import Shuffled, shuffled
from .signed import SignedResponse
from .survey import Belief, CoinSurvey, Deniability, SurveyEstimate, SurveyPlan
from .unary import UnaryEncoding
from .values import Values
from .vectors import MeanVector, VectorMean, vectors

__all__ = [
    "AllOf",
    "AttributePlan",
    "Attributes",
    "Belief",
    "Candidate",
    "CoinSurvey",
    "Deniability",
    "Frequencies",
    "FrequencyProtocol",
    "Joint",
    "JointPlan",
    "JointTable",
    "JointTables",
    "KeyValueEstimate",
    "KeyValues",
    "Layout",
    "LocalHashing",
    "LocalProtocol",
    "MeanVector",
    "MetricResponse",
    "OneOf",
    "OneTrue",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "RangeCount",
    "RangeEstimate",
    "RangePlan",
    "Ranges",
    "Rejected",
    "Reports",
    "Response",
    "Shuffled",
    "SignedResponse",
    "SurveyEstimate",
    "SurveyPlan",
    "Tally",
    "UnaryEncoding",
    "Values",
    "VectorMean",
    "attribute_plans",
    "attributes",
    "candidates",
    "frequencies",
    "joint",
    "joint_plans",
    "key_values",
    "metric_response",
    "places",
    "range_plans",
    "ranges",
    "shuffled",
    "vectors",
    "why",
]
