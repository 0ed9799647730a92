from . import domains, metrics

__all__ = [
    "domains",
    "metrics",
]
