"""Individual accounting: a register that keeps a limit for each unit, beside the limit of the whole."""
