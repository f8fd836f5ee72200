"""A program as a bundle for the Operator Lifecycle Manager: what is in it, and what is wrong with one."""
