"""Network faults: scripted and random."""
