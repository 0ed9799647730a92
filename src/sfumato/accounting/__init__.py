"""Privacy losses: what a mechanism costs, and the theorems that say so. Deterministic; holds public numbers only."""

import lazy_loader

# Names are loaded on first use; `__init__.pyi` lists them for everyone.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
