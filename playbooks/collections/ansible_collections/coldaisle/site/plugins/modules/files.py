#!/usr/bin/python
"""Write many text files in one task."""

from __future__ import annotations

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
      - C(reload) names who reads the file and must be told, C(networkd), C(systemd), C(udev), or a unit that is
        restarted if it runs. Each is told once, after all files are written.
    type: list
    elements: dict
    required: true
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

import pwd
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.services import tell

PRIVATE = 0o077
"""A file that only its owner may read lies in a folder that only its owner may enter."""


def main() -> None:
    """Write the files of this task."""
    module = AnsibleModule(
        argument_spec={
            "files": {
                "type": "list",
                "elements": "dict",
                "required": True,
                "options": {
                    "path": {"type": "str", "required": True},
                    "content": {"type": "str", "required": True},
                    "mode": {"type": "str", "default": "0644"},
                    "owner": {"type": "str", "default": "root"},
                    "reload": {"type": "list", "elements": "str", "default": []},
                },
            }
        },
        supports_check_mode=True,
    )
    changed: list[str] = []
    readers: dict[str, None] = {}
    diffs = []
    for entry in module.params["files"]:
        path = Path(entry["path"])
        before = _current(path)
        if before == (entry["content"], int(entry["mode"], 8), entry["owner"]):
            continue
        changed.append(str(path))
        readers |= dict.fromkeys(entry["reload"])
        diffs.append(_diff(path, before[0] if before else "", entry["content"]))
        if not module.check_mode:
            _write(module, path, entry)
    if not module.check_mode:
        _tell_all(module, list(readers))
    module.exit_json(changed=bool(changed), paths=changed, reloaded=list(readers), diff=diffs)


def _tell_all(module: AnsibleModule, readers: list[str]) -> None:
    for reader in readers:
        try:
            tell(reader)
        except FactError as error:
            module.fail_json(msg=f"the files are written, but {reader} did not take them: {error}")


def _current(path: Path) -> tuple[str, int, str] | None:
    """Return a file's content, mode and owner, or None where there is none."""
    try:
        content = path.read_bytes().decode("utf-8", errors="replace")
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        owner = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        owner = str(status.st_uid)
    return content, stat.S_IMODE(status.st_mode), owner


def _diff(path: Path, before: str, after: str) -> dict[str, str]:
    return {"before_header": str(path), "after_header": str(path), "before": before, "after": after}


def _write(module: AnsibleModule, path: Path, entry: dict[str, Any]) -> None:
    """Put the new file beside the old one and move it over, so that a reader never sees half a file."""
    mode = int(entry["mode"], 8)
    try:
        _make_folder(path.parent, entry["owner"], private=not mode & PRIVATE)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as fresh:
            fresh.write(entry["content"].encode())
        Path(fresh.name).chmod(mode)
        shutil.chown(fresh.name, entry["owner"])
        Path(fresh.name).replace(path)
    except (OSError, LookupError) as error:
        module.fail_json(msg=f"cannot write {path}: {error}")


def _make_folder(folder: Path, owner: str, *, private: bool) -> None:
    if folder.is_dir():
        return
    folder.mkdir(parents=True)
    if private:
        folder.chmod(0o700)
        shutil.chown(folder, owner)


if __name__ == "__main__":
    main()
