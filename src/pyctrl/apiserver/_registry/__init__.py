"""Built-in kinds: strategies, defaults, validation, table columns and sub-resources."""
