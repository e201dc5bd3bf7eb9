"""The operating system image of simulated hosts: how it is built, and the files that it holds."""
