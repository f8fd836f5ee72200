"""Label and field selectors: requirements, parser and matching."""
