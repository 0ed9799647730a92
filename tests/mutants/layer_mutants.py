"""Ways to misread what single units bring, layer by layer, each a mistake that was made somewhere."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

FOLDER = "tests/unit/train/"
KINDS = f"{FOLDER}test_layer_kinds.py::test_norms_and_sums_of_every_kind_are_those_of_units_one_by_one"
TRIAL = f"{FOLDER}test_trial.py::test_a_trial_tells_where_rows_are"
REFUSED = f"{FOLDER}test_ways.py::test_A3_021_what_cannot_be_told_apart_by_rows_is_refused_before_it_is_paid"
AUDITED = "C.1 arXiv 2202.12219: a step whose sensitivity is off"
ROWS = "C.4 ML: rows of one unit taken for another's"

LAYERS = (
    Mutant(
        name="attention that runs past its taps",
        trap=AUDITED,
        path="train/taps.py",
        old="torch.backends.mha.set_fastpath_enabled(False)",
        new="torch.backends.mha.set_fastpath_enabled(True)",
        killers=(f"{KINDS}[transformer, evaluated-1]",),
    ),
    Mutant(
        name="two ends of a table that are added up as if they never met",
        trap=AUDITED,
        path="train/layers/uses.py",
        old="parts.append(2 * crossed(self._product, self._lookup))",
        new="parts.append(0 * crossed(self._product, self._lookup))",
        killers=(f"{KINDS}[tied words-1]",),
    ),
    Mutant(
        name="tables that trust floats where large parts cancel",
        trap="C.1 arXiv 2207.10635: sensitivity of floats",
        path="train/layers/uses.py",
        old="            parts.append(_unsure(self._product, self._lookup))\n",
        new="",
        killers=(f"{FOLDER}test_layer_kinds.py::test_large_parts_of_a_table_that_cancel_hide_nothing",),
    ),
    Mutant(
        name="calls of one layer of which the last alone counts",
        trap=AUDITED,
        path="train/layers/uses.py",
        old="    return Product(inputs, back, uses[0].shape)",
        new="    return uses[-1]",
        killers=(f"{KINDS}[GRU cell-1]",),
    ),
    Mutant(
        name="a reset gate that is forgotten",
        trap=AUDITED,
        path="train/layers/recurrent.py",
        old="back[..., 2 * size :] * resets[0].to(back.dtype)",
        new="back[..., 2 * size :]",
        killers=(f"{KINDS}[GRU, times first-1]",),
    ),
    Mutant(
        name="hidden states of the time itself",
        trap=AUDITED,
        path="train/layers/recurrent.py",
        old="for each in (before, resets) if each]",
        new="for each in (outputs, resets) if each]",
        killers=(f"{KINDS}[LSTM, times first-1]",),
    ),
    Mutant(
        name="words of a bag that count in full",
        trap=AUDITED,
        path="train/layers/embedding.py",
        old='if layer.mode == "mean":',
        new='if layer.mode == "none":',
        killers=(f"{KINDS}[bags, means-1]",),
    ),
    Mutant(
        name="keys at the place of queries",
        trap=AUDITED,
        path="train/layers/attention.py",
        old="Place(layer.in_proj_weight, first, size)",
        new="Place(layer.in_proj_weight, 0, size)",
        killers=(f"{KINDS}[cross-attention-1]",),
    ),
    Mutant(
        name="a trial that finds all alike",
        trap=ROWS,
        path="train/trial.py",
        old="                wrong.add(name)\n",
        new="                wrong.discard(name)\n",
        killers=(f"{TRIAL}[flattened-1]",),
    ),
    Mutant(
        name="times that are taken for rows",
        trap=ROWS,
        path="train/taps.py",
        old="rows = self._layout.dimensions.get(name, 0)",
        new="rows = 0 * self._layout.dimensions.get(name, 0)",
        killers=(f"{TRIAL}[times first-1]",),
    ),
    Mutant(
        name="copies that fit where they run",
        trap=ROWS,
        path="train/trial.py",
        old="close = close and all(",
        new="close = close or all(",
        killers=(f"{TRIAL}[adapter-1]",),
    ),
    Mutant(
        name="tables that a batch cuts to its words",
        trap="C.4 ML: no data statistics",
        path="train/checks.py",
        old="if layer.max_norm is not None:",
        new="if layer.max_norm is None and False:",
        killers=(f"{REFUSED}[tables that are cut]",),
    ),
    Mutant(
        name="gradients that are added up at the precision of layers",
        trap=AUDITED,
        path="train/unit_gradients.py",
        old="device.type, enabled=False)",
        new="device.type, enabled=True)",
        killers=(
            f"{FOLDER}test_ways.py::test_low_precision_is_left_to_layers_and_gradients_are_added_up_at_single[False]",
        ),
    ),
    Mutant(
        name="noise that counts as gradient",
        trap="C.4 ML: adaptive methods under noise",
        path="train/optimizers.py",
        old='(state["square"] - state["noise"])',
        new='(state["square"])',
        killers=(f"{FOLDER}test_optimizers.py::test_the_variance_of_the_noise_is_taken_off_mean_squares",),
    ),
    Mutant(
        name="noise that is told before it is divided",
        trap="C.4 ML: divide by the expected batch size",
        path="train/trainer.py",
        old="know_noise(deviation / expected)",
        new="know_noise(deviation)",
        killers=(f"{FOLDER}test_optimizers.py::test_a_training_tells_its_optimizer_how_large_the_noise_is",),
    ),
)
