"""Sets of labels from several judges held against each other."""
