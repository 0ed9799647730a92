"""Synthetic data: tables that look like private ones, made of noisy answers alone."""
