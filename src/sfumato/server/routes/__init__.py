"""Routes of the API, one file for each topic. A route reads a request, calls one use case, and writes the answer."""
