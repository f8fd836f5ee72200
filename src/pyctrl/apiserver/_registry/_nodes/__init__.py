"""The API of kubelets, which the proxy of nodes reaches."""
