"""Inputs of every engine: data frames, values of Python and text files, as columns and texts that read one by one."""
