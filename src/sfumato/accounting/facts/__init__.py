"""Facts: what one use of a noise costs, one file for each noise. `loss_of` looks them up; a missing fact is refused."""

from sfumato.accounting.facts.table import IntegerNoise, buys, fact, has_fact, loss_of, noise_within, parameter_within

__all__ = ["IntegerNoise", "buys", "fact", "has_fact", "loss_of", "noise_within", "parameter_within"]
