"""Rényi curves: certified bounds on divergences at every order, and the search for the best order."""
