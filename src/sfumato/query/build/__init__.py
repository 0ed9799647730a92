"""The checked steps by which SQL and frames alike build a question: relations, aggregates, settings."""
