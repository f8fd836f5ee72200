"""Logging in: kubeconfig, in-cluster, exec plugins, OIDC, TLS and proxies."""
