"""Sharding: the requests of a program are divided among its replicas, which agree by Leases."""
