"""
An existing site brought under management: what its tools tell, as a spec, and what they could not tell.

Sources are read into facts (`readers`), facts of several sources about one thing are merged, and a spec with its
allocations follows. Nothing is made up: a value that no source has is left out, with a note of where to look.
"""

from __future__ import annotations
