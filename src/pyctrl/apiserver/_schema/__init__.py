"""Schema model, validation against a schema, defaulting, and decoding of typed objects."""
