"""All ways to break private training."""

from __future__ import annotations

from tests.mutants.layer_mutants import LAYERS
from tests.mutants.pate_mutants import PATE
from tests.mutants.training_audit_mutants import TRAINING_TOGETHER
from tests.mutants.training_batch_mutants import TRAINING_BATCHES
from tests.mutants.training_door_mutants import TRAINING_DOORS
from tests.mutants.training_mutants import TRAINING_STEPS
from tests.mutants.training_noise_mutants import TRAINING_NOISE
from tests.mutants.tuning_mutants import TUNING

TRAINING = (
    *TRAINING_STEPS,
    *TRAINING_NOISE,
    *TRAINING_BATCHES,
    *TRAINING_TOGETHER,
    *TRAINING_DOORS,
    *LAYERS,
    *TUNING,
    *PATE,
)
