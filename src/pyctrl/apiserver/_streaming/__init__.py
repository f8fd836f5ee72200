"""Streams of containers over upgraded connections: `remotecommand` by WebSocket."""
