"""
The health of nodes: what they tell becomes events, events become conditions, and a policy with limits answers them.

All of it is pure: time is an argument, and what was decided before is a record that can be written down (`state`). Who
reads hosts and BMCs, and who acts, is `coldaisle health` (coldaisle.cli.health).
"""
