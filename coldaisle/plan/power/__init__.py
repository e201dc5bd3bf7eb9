"""
Power from the utility to the outlet: what each part may carry, and what it does carry.

`arithmetic` and `draws` are of one feed and one device, `banks` is below a feed, `racks` has the feeds of a rack,
`chain` and `upstream` are above them, and `start` orders what is turned on after a blackout.
"""
