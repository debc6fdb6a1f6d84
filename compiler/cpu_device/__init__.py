"""The CPU device: runs a GPU program's own device code on the host's processor."""
