"""Serializers of request bodies: JSON, YAML and protobuf."""
