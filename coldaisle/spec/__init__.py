"""What people write of a site: sections, loaded and validated, with the place of every value."""

from coldaisle.spec.load import load_site, site_folder
from coldaisle.spec.problem import Problem, SpecError
from coldaisle.spec.sections import SiteSpec

__all__ = ["Problem", "SiteSpec", "SpecError", "load_site", "site_folder"]
