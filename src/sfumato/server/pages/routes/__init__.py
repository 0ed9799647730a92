"""Routes of the pages, one file for each kind of work. A route reads a request, calls use cases, and shows a view."""
