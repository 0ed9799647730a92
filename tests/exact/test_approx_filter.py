"""The filter for (ε, δ) limits, against the worst adaptive spender: shares of δ hold, and are needed."""

from __future__ import annotations
