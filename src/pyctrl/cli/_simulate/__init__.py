"""`pyctrl simulate`: every fault is tried against a program."""
