"""Layers: one small module for each kind, which says what the gradients of all units are worth without making them."""
