"""The events of other accountants, read and written."""
