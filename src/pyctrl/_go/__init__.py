"""Behaviour of Go's standard library that the API shows: regular expressions, base64, durations, text of values."""
