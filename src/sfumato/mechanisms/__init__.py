"""Private mechanisms: the random part, each with the map that says what it costs."""
