"""Generative networks that are trained privately: the only part of synthesis that needs torch."""
