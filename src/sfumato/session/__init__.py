"""Protected data sets, and sessions that spend on them through a ledger."""
