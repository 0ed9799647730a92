"""What leaves, and how it looks: records of releases, intervals, renderings, tables, charts."""

import lazy_loader

# Charts are loaded when they are asked for: records are needed everywhere, and must cost next to nothing.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["charts"])
