"""What is public before anything is spent: who is protected, columns, bounds, and where each fact is from."""

from sfumato.codebook.book import Codebook

__all__ = ["Codebook"]
