"""Logins: kubeconfig, in-cluster, exec plugins, OpenID Connect, TLS and proxies."""
