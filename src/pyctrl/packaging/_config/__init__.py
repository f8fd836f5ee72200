"""The config directory of a project, in kubebuilder's layout."""
