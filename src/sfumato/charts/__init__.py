"""Every chart that sfumato draws. Functions take noises, losses and releases, give altair charts; `save` writes files.

Needs the extra ``sfumato[plot]``; it is loaded when the first chart is drawn.
"""

from sfumato.charts.canvas import Chart, save
from sfumato.charts.growth import growth, scales
from sfumato.charts.local import Estimated, estimated_shares, estimates_by_epsilon, labelled_lines
from sfumato.charts.losses import loss_masses, posteriors, profiles, trade_off_lines
from sfumato.charts.neighbours import delta_area, neighbours, odds, realised_losses
from sfumato.charts.noise import accuracy, noise_densities
from sfumato.charts.one_release import release
from sfumato.charts.picture import randomized_picture
from sfumato.charts.releases import classroom_figure, error_bars, errors_by_loss, guesses
from sfumato.charts.tones import Captioned, tone_gallery
from sfumato.charts.windows import loss_distribution, per_query, range_windows, trade_offs, truncated_windows

__all__ = [
    "Captioned",
    "Chart",
    "Estimated",
    "accuracy",
    "classroom_figure",
    "delta_area",
    "error_bars",
    "errors_by_loss",
    "estimated_shares",
    "estimates_by_epsilon",
    "growth",
    "guesses",
    "labelled_lines",
    "loss_distribution",
    "loss_masses",
    "neighbours",
    "noise_densities",
    "odds",
    "per_query",
    "posteriors",
    "profiles",
    "randomized_picture",
    "range_windows",
    "realised_losses",
    "release",
    "save",
    "scales",
    "tone_gallery",
    "trade_off_lines",
    "trade_offs",
    "truncated_windows",
]
