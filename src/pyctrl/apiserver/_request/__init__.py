"""Requests: request info, query parameters, options and content negotiation."""
