"""The PostgreSQL port: what psql, drivers and dashboards speak, answered through the same use cases as HTTP."""
