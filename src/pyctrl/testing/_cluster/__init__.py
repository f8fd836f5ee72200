"""Clusters that tests run against."""
