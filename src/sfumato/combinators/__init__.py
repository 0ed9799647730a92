"""Ways to put measurements together: composition, interaction, parts, samples, and the best of several runs."""
