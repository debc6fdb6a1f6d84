"""What bench_communication hands to the machine that it measures on: `run.py`."""
