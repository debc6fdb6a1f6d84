"""The name of the function that a host program becomes."""

BODY_PREFIX = "hirc_body_"
