"""Privacy-loss distributions: dominating pairs, composed and evaluated with certified brackets."""
