"""CustomResourceDefinitions generated from classes."""
