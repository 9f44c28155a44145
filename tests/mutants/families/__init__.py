"""The families of faults: cosmic-ray's operators, and faults of meaning, a module for each."""
