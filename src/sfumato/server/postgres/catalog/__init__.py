"""The catalog that tools look a database over in, worked out from codebooks alone: no data is ever opened for it."""
