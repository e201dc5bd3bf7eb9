"""
Everything that must be on a machine before Coldaisle can run there, and how it gets there.

This package runs before the virtual environment exists, so it imports the standard library only (import-linter
holds that), and nothing here knows what a site is.
"""
