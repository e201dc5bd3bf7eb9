"""Renderers: the plan as files, inventories and reports. They decide nothing."""
