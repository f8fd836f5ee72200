"""Resources of an extension API server: their types, and the handlers of those with a storage of their own."""
