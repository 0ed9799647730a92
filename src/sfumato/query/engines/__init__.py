"""Engines that compute what a query needs, one file each."""
