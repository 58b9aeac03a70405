"""A drive's parameters from a recording of its service times: `diskwright.fit`."""
