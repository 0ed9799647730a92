"""Passes: functions from nodes to nodes that mean the same."""
