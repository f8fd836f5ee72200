"""The container image of a program."""
