"""Private queries: SQL and data frames over engines, to nodes, to whole numbers, to releases."""
