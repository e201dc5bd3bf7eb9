"""GPU datacenters as code: spec, plan, checks, and what follows from them."""
