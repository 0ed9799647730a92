"""DataSynthesizer: PrivBayes, its correlated mode, with one parent a column at most, and with two.

Which is better depends on the table. Left to itself it takes three: slower by far, and worse than both in a run on each
of two tables of nine and ten columns at ε = 1. Two take hours where there are twenty columns.
"""

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


def privbayes(table: Table, epsilon: float, parents: int) -> runs.Made:
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
            str(data), k=parents, epsilon=epsilon, seed=seed,
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
    ways: dict[str, runs.Method] = {
        "privbayes-1": lambda table, epsilon, _: privbayes(table, epsilon, 1),
        "privbayes-2": lambda table, epsilon, _: privbayes(table, epsilon, 2),
    }
    runs.main("datasynthesizer", ways)
