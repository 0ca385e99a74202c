"""Names of measures: ours, other tools', and the parser of labels."""
