"""Resource types: what the server needs to know of a resource, and the container in which it finds them."""
