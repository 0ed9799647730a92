from .choosing import Candidate, candidates, frequencies, why
from .comparing import Compared, Comparison, compare
from .drawing import plot_value
from .frequency import Frequencies, FrequencyProtocol
from .hashing import LocalHashing
from .metric_responses import MetricResponse, metric_response
from .one_of import OneOf
from .place_maps import PlaceDensity, PlaceRemap
from .place_reports import Places, places
from .protocol import LocalProtocol, Tally
from .questionnaire import Questionnaire, truth_for
from .reports import Layout, Rejected, Reports
from .response import Response
from .shuffle_gains import ShuffleGain, ShuffleGains, shuffle_gains
from .shuffling import Shuffled, shuffled
from .survey import Belief, CoinSurvey, Deniability
from .survey_cheating import Cheating, find_cheating
from .survey_choice import ChoiceEstimate, ChoiceSurvey
from .survey_estimates import DoubtedShare, SurveyEstimate, SurveyPlan
from .survey_plans import SurveySizes, survey_sizes
from .unary import UnaryEncoding
from .values import Values
from .vectors import MeanVector, VectorMean, vectors

__all__ = [
    "Belief",
    "Candidate",
    "Cheating",
    "ChoiceEstimate",
    "ChoiceSurvey",
    "CoinSurvey",
    "Compared",
    "Comparison",
    "Deniability",
    "DoubtedShare",
    "Frequencies",
    "FrequencyProtocol",
    "Layout",
    "LocalHashing",
    "LocalProtocol",
    "MeanVector",
    "MetricResponse",
    "OneOf",
    "PlaceDensity",
    "PlaceRemap",
    "Places",
    "Questionnaire",
    "Rejected",
    "Reports",
    "Response",
    "ShuffleGain",
    "ShuffleGains",
    "Shuffled",
    "SurveyEstimate",
    "SurveyPlan",
    "SurveySizes",
    "Tally",
    "UnaryEncoding",
    "Values",
    "VectorMean",
    "candidates",
    "compare",
    "find_cheating",
    "frequencies",
    "metric_response",
    "places",
    "plot_value",
    "shuffle_gains",
    "shuffled",
    "survey_sizes",
    "truth_for",
    "vectors",
    "why",
]
