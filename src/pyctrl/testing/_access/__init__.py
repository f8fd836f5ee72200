"""Recording of accesses, and operators that run with exactly their declared permissions."""
