"""The command line of Coldaisle."""

from coldaisle.cli.app import main

__all__ = ["main"]
