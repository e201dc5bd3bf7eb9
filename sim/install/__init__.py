"""Rehearsing an installation: one machine of a plan, off and with an empty disk, to its own disk and to SSH."""
