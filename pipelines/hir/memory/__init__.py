"""Memory of host programs: whose it is, how long it lives, how much there is at once."""
