"""DaemonSet controller."""
