"""Questions about RBP's persistence p, and about published scores at another p."""
