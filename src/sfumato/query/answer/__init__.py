"""Answers: from noisy whole numbers to the table that is released, with its error bars. Post-processing only."""
