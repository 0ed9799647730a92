"""Runs contenders side by side, each in its own interpreter.

`stopwatch` is imported inside every contender's environment, so it and this file use the standard library only.
"""
