"""Parts of Pod: defaults, validation and subresources."""
