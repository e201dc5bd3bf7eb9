"""Simulated BMCs: one process that answers IPMI and Redfish at the address of every node's management controller."""
