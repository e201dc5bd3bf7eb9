#!/usr/bin/python
"""Write many text files in one task."""

from __future__ import annotations

# What runs is the action plugin of the same name: it sends module_utils/run_files.py to the host.

DOCUMENTATION = r"""
module: files
short_description: Write many text files in one task
description:
  - Writes each file whose content, mode or owner differs. A new file takes the old one's place at once.
  - A host pays for one task instead of one a file.
options:
  files:
    description:
      - The files, each with C(path), C(content), and optionally C(mode) (octal, as text), C(owner), and C(reload).
      - C(reload) names who reads the file and must be told, C(grub), C(networkd), C(systemd), C(udev), or a unit,
        which is restarted if it runs. Each is told once, after all files are written.
    type: list
    elements: dict
    required: true
  record:
    description:
      - Keeps a record of what was written, under C(name), with the plan's C(digest) of it; the fact C(files.NAME) then
        tells whether the files still are as they were written.
    type: dict
extends_documentation_fragment:
  - coldaisle.site.awaited
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Write kernel settings
  coldaisle.site.files:
    files:
      - {path: /etc/sysctl.d/90-coldaisle.conf, content: "vm.nr_hugepages = 8\n", mode: "0644"}
"""

RETURN = r"""
paths:
  description: The files that differed.
  returned: always
  type: list
  elements: str
reloaded:
  description: Who was told of the new files.
  returned: always
  type: list
  elements: str
"""
