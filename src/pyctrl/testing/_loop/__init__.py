"""Event loops of tests: virtual time and misuse checks."""
