"""Named checks of a plan, none skipped, each returning what it finds."""

from coldaisle.check.finding import Finding
from coldaisle.check.site import CheckedSite, check_site, open_site, strict

__all__ = ["CheckedSite", "Finding", "check_site", "open_site", "strict"]
