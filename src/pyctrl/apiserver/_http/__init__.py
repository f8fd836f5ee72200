"""HTTP/1.1 server of the API server."""
