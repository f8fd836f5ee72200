"""The objects that a program needs in a cluster."""
