"""Field management: managed fields and server-side apply."""
