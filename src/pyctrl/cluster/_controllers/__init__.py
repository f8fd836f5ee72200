"""Controllers of kube-controller-manager, and what they share."""
