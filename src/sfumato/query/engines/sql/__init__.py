"""The shared SQL back end: relations, expressions and cells as SQL text, in the words of a `Dialect`."""
