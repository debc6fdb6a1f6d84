"""Streams of host programs: loops over them, and what is ordered after what."""
