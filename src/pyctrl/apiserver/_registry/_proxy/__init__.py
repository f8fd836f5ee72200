"""The subresource proxy of pods, services and nodes: HTTP requests to what runs in the cluster."""
