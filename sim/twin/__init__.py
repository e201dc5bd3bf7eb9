"""
The twin of a fabric: its switches with their generated configurations, its cables, and checks of what was planned.

Everything is in network namespaces that no link joins to this machine, so that the plan's own addresses are used.
"""
