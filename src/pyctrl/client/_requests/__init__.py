"""Requests of the client: paths, options, bodies, answers, and the observers of writes."""
