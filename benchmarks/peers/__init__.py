"""What the benchmark against other tools is made of: who takes part, how they are timed, and what is said of it."""
