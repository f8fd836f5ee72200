"""Discovery: which kinds the server serves, and at which paths."""
