"""The service over HTTP: an API for programs, visits for people; use cases and rights are in `sfumato.service`."""
