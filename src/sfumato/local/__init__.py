"""Local privacy: answers that are randomized before they leave a person, so that nobody has to be trusted with them.

A *protocol* (`frequencies` picks one) says how a device turns a value into a report of a few bytes, and how many
reports become counts with intervals. `shuffled` says what mixing the reports buys.
"""

import lazy_loader

# Names are loaded on first use; `__init__.pyi` lists them for everyone.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
