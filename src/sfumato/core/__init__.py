"""The framework: domains, metrics, spaces, and the two kinds of component that carry the theory."""
