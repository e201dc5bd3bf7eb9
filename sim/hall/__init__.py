"""A hall: hundreds of BMCs and hosts of a plan on one machine, in network namespaces that nothing else can reach."""
