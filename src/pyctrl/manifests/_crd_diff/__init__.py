"""Comparison of two versions of a CustomResourceDefinition."""
