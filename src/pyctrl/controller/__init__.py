"""From changes to reconciles: sources, predicates, handlers, the queue, workers, and the builder that wires them."""
