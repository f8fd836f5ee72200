"""The config directory of a project, as kubebuilder lays it out."""
