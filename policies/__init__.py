"""The policy pack: the checks of a site, for every stack that is built from it."""
