"""Object metadata: system fields, validation and generation."""
