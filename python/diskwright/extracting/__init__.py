"""A drive's parameters from its answers to requests: `diskwright.extract`."""
