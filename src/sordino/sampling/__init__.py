"""The only place with randomness: exact draws from the operating system's entropy."""
