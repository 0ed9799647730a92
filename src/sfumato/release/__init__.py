"""What leaves, and how it looks: charts of noise, losses and releases."""

from sfumato.release import charts

__all__ = ["charts"]
