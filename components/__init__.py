"""Pulumi components: each is a picture of its slice of the plan, and decides nothing."""
