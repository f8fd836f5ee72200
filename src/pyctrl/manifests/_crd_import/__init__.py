"""Typed Python classes generated from CustomResourceDefinitions."""
