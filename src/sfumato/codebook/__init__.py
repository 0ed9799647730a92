"""What is public before anything is spent: who is protected, columns, bounds, and where each fact is from."""

from sfumato.codebook.advice import check_delta
from sfumato.codebook.book import Codebook
from sfumato.codebook.sampling import Sampling

__all__ = ["Codebook", "Sampling", "check_delta"]
