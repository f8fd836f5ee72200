"""Job controller, with the pods of deleted Jobs."""
