"""The report of a site: one HTML file to hand over, which needs no network and is the same to the byte every time."""

from coldaisle.render.report.page import site_report

__all__ = ["site_report"]
