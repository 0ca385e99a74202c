"""Other packages' interfaces on our measures."""
