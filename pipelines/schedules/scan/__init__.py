"""Running reductions along one loop."""
