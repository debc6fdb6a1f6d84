"""Communication of host programs: how a change of sharding is written."""
