"""Engines that compute what a query needs, one folder each; `sf.engines` has them with their settings."""

import lazy_loader

# Names are loaded on first use; `__init__.pyi` lists them for everyone.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
