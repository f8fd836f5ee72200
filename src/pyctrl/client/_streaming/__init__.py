"""Streams to pods over upgraded connections: commands, attached processes and forwarded ports."""
