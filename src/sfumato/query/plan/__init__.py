"""Planning: from a question to cells for an engine, noise, and a price. Nothing here sees private data."""
