"""Spending that is chosen as one goes: filters stop it in time, odometers say where it stands. Values, no data."""
