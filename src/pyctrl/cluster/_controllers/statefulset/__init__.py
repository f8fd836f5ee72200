"""StatefulSet controller."""
