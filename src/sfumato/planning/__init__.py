"""Planning: what a list of statistics costs, how exact it can be under a limit, and in which order to spend it.

Works from a codebook alone: no data is opened, and nothing is spent. `plan` and `wanted` are at the top of the package.
"""

import lazy_loader

# Names are loaded on first use; `__init__.pyi` lists them for everyone.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
