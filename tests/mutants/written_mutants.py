"""Ways to break releases that are written as tables."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RELEASES = "tests/unit/query/test_written_releases.py"

WRITTEN = (
    Mutant(
        name="two versions of each cell in a table",
        trap="a task that is tried again, and both of its attempts are published",
        path="query/engines/protocol.py",
        old="map(finish, in_batches(self.run(cells)))",
        new="(finish(one) for batch in in_batches(self.run(cells)) for one in (batch, batch))",
        killers=(f"{RELEASES}::test_a_table_its_document_and_its_record",),
    ),
    Mutant(
        name="the noise of a table from a seed",
        trap="a seed in the plan, so that a task that is tried again draws the same",
        path="query/plan/spreading.py",
        old="columns.noises, columns.selection, self.entropy)",
        new='columns.noises, columns.selection, __import__("sfumato.entropy", fromlist=["_"]).ReplayEntropy(0))',
        killers=(
            f"{RELEASES}::test_another_question_draws_anew",
            "tests/exact/test_written_batches.py::test_a_copy_of_what_is_sent_elsewhere_draws_other_bits",
        ),
    ),
    Mutant(
        name="a table that is drawn anew for a charge that was used",
        trap="a retried key is one charge, never a second answer",
        path="ledger/ledger.py",
        old="spent=not fresh,",
        new="spent=False,",
        killers=(f"{RELEASES}::test_broken_off_while_it_is_drawn_it_is_paid_and_not_published",),
    ),
    Mutant(
        name="attempts that anybody can read",
        trap="_temporary under the target is readable by whoever reads the target",
        path="query/engines/written_tables.py",
        old='return tempfile.mkdtemp(prefix=f".{name}.", suffix=".staged", dir=above)',
        new='made = tempfile.mkdtemp(prefix=f".{name}.", suffix=".staged", dir=above)\n'
        "            os.chmod(made, 0o755)\n            return made",
        killers=(f"{RELEASES}::test_nobody_else_can_read_what_is_kept",),
    ),
    Mutant(
        name="rows in the order in which groups came",
        trap="sizes and order of parts follow from exact numbers",
        path="query/engines/written_tables.py",
        old="table = table.take(_order(table))",
        new="pass",
        killers=(f"{RELEASES}::test_neither_order_nor_batches_nor_hidden_groups_show",),
    ),
    Mutant(
        name="written over what is there",
        trap="an existing folder that is no release",
        path="query/engines/written_tables.py",
        old="return os.path.lexists(place)",
        new="return False",
        killers=(f"{RELEASES}::test_bad_places_are_refused_and_cost_nothing[a file]",),
    ),
)
