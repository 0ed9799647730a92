"""Ways to break what is asked of a PostgreSQL server: its settings, its types, whose a row is, and what is refused."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

FOLDER = "query/engines/postgres/"
TABLES = "tests/conformance/test_postgres_tables.py::"
FAULTS = "tests/faults/test_postgres_data.py::"
LAWS = "tests/laws/test_query_laws.py::test_cells_agree_on_a_server"
ANOTHER = f"{TABLES}test_what_a_database_and_its_functions_are_set_to_changes_no_number"

POSTGRES = (
    Mutant(
        name="rows that a policy leaves out silently",
        trap="answers that depend on who asks",
        path=f"{FOLDER}server.py",
        old='    "row_security": "off",\n',
        new='    "row_security": "on",\n',
        killers=(f"{TABLES}test_rows_that_a_policy_would_leave_out_silently_are_not_left_out",),
    ),
    Mutant(
        name="days as the database writes them",
        trap="answers that depend on settings of a session",
        path=f"{FOLDER}server.py",
        old='    "DateStyle": "ISO, YMD",\n',
        new="",
        killers=(ANOTHER,),
    ),
    Mutant(
        name="texts in the order of a database",
        trap="answers that depend on settings of a session",
        path=f"{FOLDER}reading.py",
        old="TEXT = 'CAST({0} AS text) COLLATE \"C\"'",
        new="TEXT = 'CAST({0} AS text)'",
        killers=(ANOTHER,),
    ),
    Mutant(
        name="several snapshots in one question",
        trap="C.4 service: numbers of one answer that are about different rows",
        path=f"{FOLDER}server.py",
        old='BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"',
        new='BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"',
        killers=(f"{FAULTS}test_a_question_sees_one_snapshot_whatever_others_write",),
    ),
    Mutant(
        name="another connection in the middle of a question",
        trap="C.4 service: numbers of one answer that are about different rows",
        path=f"{FOLDER}engine.py",
        old="hopeless = last or not again or (together is not None and together.answered)",
        new="hopeless = last or not again",
        killers=(f"{FAULTS}test_a_connection_that_breaks_when_something_was_answered_is_not",),
    ),
    Mutant(
        name="ids that are rounded",
        trap="C.3: two people taken for one",
        path=f"{FOLDER}identity.py",
        old="CAST(trim_scale(CAST(CAST({0} AS text) AS numeric)) AS text) END",
        new="CAST(CAST(round({0}) AS numeric) AS text) END",
        killers=(f"{TABLES}test_ids_of_several_types_are_told_apart_exactly",),
    ),
    Mutant(
        name="NaN read as it is on a server",
        trap="C.1 arXiv 2602.17454: NaN injection",
        path=f"{FOLDER}dialect.py",
        old="CAST('-Infinity' AS float8) THEN {1} END\"",
        new="CAST('-Infinity' AS float8) THEN {1} ELSE {0} END\"",
        killers=(f"{LAWS}[usual-0]",),
    ),
    Mutant(
        name="decimals whose halves go away from zero",
        trap="engines that round in their own ways",
        path=f"{FOLDER}text_reading.py",
        old="abs({0} - trunc({0})) = 0.5 AND",
        new="abs({0} - trunc({0})) = 0.7 AND",
        killers=(f"{TABLES}test_decimals_are_rounded_to_the_even_one_and_types_that_are_none_are_refused",),
    ),
    Mutant(
        name="a view that is another one each time",
        trap="data that changes while it is asked",
        path=f"{FOLDER}tables.py",
        old='if row[0] and table.kind == "v":',
        new='if row[0] and table.kind == "x":',
        killers=(f"{TABLES}test_tables_and_views_that_are_refused[random_rows]",),
    ),
    Mutant(
        name="a planner that leads to its connection",
        trap="C.4 service: private data behind an attribute",
        path=f"{FOLDER}planning.py",
        old="sealed(engine.prepare), sealed(engine.prepare_marginals)",
        new="engine.prepare, sealed(engine.prepare_marginals)",
        killers=(f"{TABLES}test_nothing_that_a_session_holds_leads_to_the_server",),
    ),
    Mutant(
        name="missing keys that match nothing",
        trap="groups that are lost",
        path=f"{FOLDER}dialect.py",
        old='same="ARRAY[{0}] = ARRAY[{1}]"',
        new='same="{0} = {1}"',
        killers=(f"{LAWS}[usual-0]",),
    ),
)
"""What PostgreSQL is asked."""
