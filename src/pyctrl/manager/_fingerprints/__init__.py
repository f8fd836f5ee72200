"""Where the fingerprints of converged requests are kept, and the runnable that keeps them."""
