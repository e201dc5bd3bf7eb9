"""Words that more than one layer writes and reads, and that cost no import of either: the provider starts with them."""

JOURNAL_FILE = "nodes.jsonl"
"""The journal of a site's nodes, in the site's folder."""

LIFE = "life"
"""What stands for a host in a play that leaves it alone: its state, in place of its facts."""
