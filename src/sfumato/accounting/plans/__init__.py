"""Plans fixed in advance: what they cost by every way of accounting, and the parameters that just keep a limit."""
