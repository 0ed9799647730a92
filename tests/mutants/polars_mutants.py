"""Ways to break the Polars engine."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

FOLDER = "query/engines/polars/"
LAWS = "tests/laws/test_polars_laws.py::"
FUZZ = "tests/fuzz/test_every_source.py::"
SOURCES = "tests/unit/query/test_polars_sources.py::"

POLARS: tuple[Mutant, ...] = (
    Mutant(
        name="plans by the order that a file says its values have",
        trap="C.1 arXiv 2602.17454: what is said of data decides how somebody's row is read",
        path=f"{FOLDER}files.py",
        old="return pl.col(name).map_batches(_by_arrow, return_dtype=held, is_elementwise=True)",
        new="return pl.col(name)",
        killers=(f"{SOURCES}test_what_is_said_of_the_order_of_values_changes_no_answer[file-in place]",),
        audits=(f"{FUZZ}test_every_kind_of_source_gives_the_same_answers[Parquet with flags, in Polars]",),
    ),
    Mutant(
        name="one group too many in Polars",
        trap="C.2: a bound that is off by one",
        path=f"{FOLDER}ranking.py",
        old="alias(RANK)).filter(pl.col(RANK) <= most).drop(HASH, RANK)",
        new="alias(RANK)).filter(pl.col(RANK) <= most + 1).drop(HASH, RANK)",
        killers=(f"{LAWS}test_the_hash_decides_and_not_the_value",),
        audits=(f"{LAWS}test_neighbours_are_close[0]",),
    ),
    Mutant(
        name="rows with one hash that all stay",
        trap="C.2: a bound that holds for most hashes",
        path=f"{FOLDER}ranking.py",
        old='.rank("max")',
        new='.rank("min")',
        killers=(f"{LAWS}test_cells_agree[0]",),
    ),
    Mutant(
        name="what a person adds that is not scaled down in Polars",
        trap="C.2: contributions beyond the bound",
        path=f"{FOLDER}bounding.py",
        old=".then(steps).otherwise(less)",
        new=".then(steps).otherwise(steps)",
        killers=(f"{LAWS}test_cells_agree[0]",),
        audits=(f"{LAWS}test_neighbours_are_close[0]",),
    ),
    Mutant(
        name="sums that wrap in Polars",
        trap="C.2 #2925",
        path=f"{FOLDER}bounding.py",
        old="pl.col(column).cast(pl.Int128).sum()",
        new="pl.col(column).sum()",
        killers=(f"{SOURCES}test_sums_do_not_wrap",),
    ),
    Mutant(
        name="quotients that hang on how many rows there are",
        trap="C.1: a row that changes how others are read",
        path=f"{FOLDER}whole_numbers.py",
        old="return left / (right + left * 0.0)",
        new="return left / right",
        killers=(f"{SOURCES}test_what_a_value_is_does_not_hang_on_how_many_rows_are_beside_it",),
    ),
    Mutant(
        name="ids that are rounded in Polars",
        trap="C.3: two people taken for one",
        path=f"{FOLDER}identity.py",
        old="one.cast(FLOAT) + 0.0",
        new="one.cast(FLOAT).round() + 0.0",
        killers=(f"{SOURCES}test_floats_that_are_ids_in_every_table_are_told_apart",),
    ),
    Mutant(
        name="the words of Polars",
        trap="C.4 service: data-independent errors",
        path=f"{FOLDER}running.py",
        old="        except FAILURES:\n            pass\n    raise RuntimeError(BROKE_OFF)",
        new="        except FAILURES as error:\n            said = str(error)\n    raise RuntimeError(said)",
        killers=(f"{SOURCES}test_a_failure_is_told_without_its_reason_and_the_other_engine_is_asked_first",),
    ),
)
