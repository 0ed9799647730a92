"""The exact cells of a question written in the SQL of databases that sfumato does not run: for people who look."""
