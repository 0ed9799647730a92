from . import engines

__all__ = ["engines"]
