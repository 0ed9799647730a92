"""What pages show, as plain values: made from what use cases answer, read by templates. Nothing here asks anything."""
