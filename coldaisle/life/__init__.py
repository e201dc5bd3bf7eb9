"""The life of a node: its states, the steps between them, what its hardware is, and how it leaves."""
