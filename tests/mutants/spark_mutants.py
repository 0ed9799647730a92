"""Ways to break the engine on Spark."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

HERE = "tests/conformance/test_spark.py"
FRAMES = "tests/conformance/test_spark_frames.py"
SOURCES = "tests/conformance/test_spark_sources.py"

SPARK = (
    Mutant(
        name="limbs that are too wide in Spark",
        trap="C.2 #2925: sums that wrap",
        path="query/engines/sql/dialect.py",
        old="if not self.narrow_sum or size is None or size >= LARGEST:",
        new="if not self.narrow_sum or size is None:",
        killers=(f"{HERE}::test_limbs_have_room_for_the_rows_of_any_table",),
    ),
    Mutant(
        name="a float that does not fit, as the nearest number in Spark",
        trap="C.2 #2925: overflow that saturates",
        path="query/engines/spark/reading.py",
        old="{0} < 9223372036854775808BD THEN CAST({0} AS BIGINT) END",
        new="{0} <= 9223372036854775808BD THEN CAST({0} AS BIGINT) END",
        killers=(f"{HERE}::test_operators_give_what_the_page_says_of_every_case",),
    ),
    Mutant(
        name="NaN among the ids in Spark",
        trap="C.3: two people taken for one",
        path="query/engines/spark/identity.py",
        old="CASE WHEN NOT isnan({0}) THEN CAST({0} AS DOUBLE)",
        new="CASE WHEN NOT isnull({0}) THEN CAST({0} AS DOUBLE)",
        killers=(f"{HERE}::test_people_are_told_apart_as_the_source_holds_them[double]",),
    ),
    Mutant(
        name="texts that are not UTF-8 in Spark",
        trap="C.4 service: data-independent errors",
        path="query/engines/spark/sources.py",
        old="try_validate_utf8(CAST({column} AS STRING) COLLATE UTF8_BINARY)",
        new="(CAST({column} AS STRING) COLLATE UTF8_BINARY)",
        killers=(f"{HERE}::test_every_type_is_read_as_the_page_says",),
    ),
    Mutant(
        name="all groups of a person in Spark",
        trap="C.3: a bound that is not enforced",
        path="query/engines/sql/bounding.py",
        old="cells = cells if kept is None else kept(cells)",
        new="cells = cells if kept is None or less else cells + ''",
        killers=(f"{HERE}::test_a_person_in_all_groups_with_very_many_rows_counts_as_any_other",),
    ),
    Mutant(
        name="lazy plans that are worked out anew in Spark",
        trap="C.4 Tumult Analytics: a frame that is not the same twice",
        path="query/engines/spark/plans.py",
        old="if not all(part.deterministic() for part in parts_of(plan)):",
        new="if plan is None:",
        killers=(f"{SOURCES}::test_frames_that_may_have_other_rows_each_time_are_refused",),
    ),
    Mutant(
        name="conditions that a scan of Spark may leave out parts of files by",
        trap="C.1 arXiv 2602.17454: NaN injection, by way of minimum and maximum",
        path="query/engines/spark/sources.py",
        old='return f"CASE WHEN {column} IS NOT NULL THEN {column} END"',
        new="return column",
        killers=(f"{SOURCES}::test_no_condition_is_handed_to_a_scan[frame]",),
    ),
    Mutant(
        name="readers of Spark that leave out what they cannot read just now",
        trap="C.4 Tumult Analytics: a frame that is not the same twice",
        path="query/engines/spark/leaves.py",
        old="if name in given and given[name].strip().lower() != wanted:",
        new="if name in given and not given[name]:",
        killers=(f"{FRAMES}::test_readers_that_may_give_other_rows_are_refused_by_name",),
    ),
    Mutant(
        name="types that Spark guesses from the names of all folders",
        trap="C.4 stability: types taken from private data",
        path="query/engines/spark/session.py",
        old='"spark.sql.sources.partitionColumnTypeInference.enabled": "false",',
        new='"spark.sql.sources.partitionColumnTypeInference.enabled": "true",',
        killers=(f"{FRAMES}::test_types_are_not_guessed_from_the_names_of_folders",),
    ),
)
