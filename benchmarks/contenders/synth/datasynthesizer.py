"""DataSynthesizer: PrivBayes, its correlated mode."""

from __future__ import annotations

import contextlib
import io
import json
import secrets
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator

from contenders.synth import runs
from contenders.synth.cases import Table
from side_by_side.stopwatch import report_version

NARROW = 10
"""Up to so many columns two parents each are looked for; with more of them that would take hours, and one has to do.

Left to itself it takes three: on ten made-up columns at ε = 1 that is off by 0.14, two by 0.06, one by 0.07.
"""


def privbayes(table: Table, epsilon: float, _: float) -> runs.Made:
    """PrivBayes, at pure ε; it is told the codes of every column, and a seed, without which its noise is the same."""
    with tempfile.TemporaryDirectory(prefix="sfumato-") as name, contextlib.redirect_stdout(io.StringIO()):
        folder, seed = Path(name), secrets.randbelow(2**31)
        data, known, told = folder / "rows.csv", folder / "known.json", folder / "told.json"
        frame = pd.DataFrame(table.rows.astype(np.int64), columns=table.names)
        frame.map("v{}".format).to_csv(data, index=False)
        sizes = zip(table.names, table.sizes, strict=True)
        known.write_text(json.dumps({column: [f"v{code}" for code in range(size)] for column, size in sizes}))
        describer = DataDescriber(category_threshold=1000)
        describer.describe_dataset_in_correlated_attribute_mode(
            str(data), k=2 if len(table.names) <= NARROW else 1, epsilon=epsilon, seed=seed,
            attribute_to_is_categorical=dict.fromkeys(table.names, True),
            attribute_to_is_candidate_key=dict.fromkeys(table.names, False),
            attribute_to_datatype=dict.fromkeys(table.names, "String"),
            categorical_attribute_domain_file=str(known),
        )  # fmt: skip
        describer.save_dataset_description_to_file(str(told))
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(len(frame), str(told), seed=seed)
        made = generator.synthetic_dataset[table.names].map(lambda value: int(str(value)[1:]))
    return made.to_numpy(), True


if __name__ == "__main__":
    report_version("DataSynthesizer")
    runs.main("datasynthesizer", {"privbayes": privbayes})
