"""The names of the functions that a host program's parts become."""

BODY_PREFIX = "hirc_body_"
LAUNCHER_PREFIX = "hirc_"
