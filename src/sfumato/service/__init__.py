"""Use cases of an organisation: several people, data sets, a limit for each, and nobody near the rows."""
