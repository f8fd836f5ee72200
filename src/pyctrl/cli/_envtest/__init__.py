"""The command `pyctrl envtest`, and the executables of its directory: etcd, kube-apiserver and kubectl."""
