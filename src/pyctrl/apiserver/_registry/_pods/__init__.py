"""Parts of Pod: defaults, validation and sub-resources."""
