"""Demonstrations: the stories that `sfumato demo` tells on bundled data."""
