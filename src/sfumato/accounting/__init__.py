"""Privacy losses: what a mechanism costs, and the theorems that say so. Deterministic; holds public numbers only."""

from sfumato.accounting import events

__all__ = ["events"]
