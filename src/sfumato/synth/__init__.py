"""Synthetic data: a table that looks like a private one, made of noisy counts that were paid for once.

A method (`AIM`, `MST`, `Independent`, …) states what to spend; ``fit`` of a table of a session gives a `Synthetic`, and
``sample`` rows of it, as many and as often as one likes.
"""

from importlib.util import find_spec

import lazy_loader

from sfumato.errors import MissingExtra

if find_spec("sklearn") is None:
    raise MissingExtra("sfumato.synth", "synth")

# Names are loaded on first use; `__init__.pyi` lists them for everyone.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
