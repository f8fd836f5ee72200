"""The part of sharding that a controller has: it takes the requests of its replica's slots, and leaves all others."""
