"""The Helm chart of a program."""
