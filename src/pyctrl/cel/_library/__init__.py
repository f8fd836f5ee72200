"""Function libraries of CEL: the standard operators, the extensions of cel-go and those of Kubernetes."""
