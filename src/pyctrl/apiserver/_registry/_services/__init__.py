"""Parts of Service: validation, and the allocation of cluster IPs and node ports."""
