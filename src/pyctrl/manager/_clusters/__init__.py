"""Clusters that a manager is connected to, and providers of clusters."""
