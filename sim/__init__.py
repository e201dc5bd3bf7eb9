"""
The simulated datacenter: a whole site on one machine, started from its plan.

BMCs, machines, switches and services speak their real protocols in network namespaces of their own, so that nothing
outside this package knows that the site is simulated.
"""
