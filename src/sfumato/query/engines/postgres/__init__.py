"""PostgreSQL: the data stays in the server, and only bounded cells leave it."""
