"""
A whole site in virtual time: its plan, the provider's logic and that of waves, against a seeded model of hosts.

It is free of protocols: no packet is sent, no playbook runs, no machine boots. A run of a playbook is an answer that
the model gives after so many virtual seconds. What is real is everything that decides: the plan, what differs, the
waves, what is kept and taken up again, what is told of each host. Never read its hours beside measured seconds.
"""
