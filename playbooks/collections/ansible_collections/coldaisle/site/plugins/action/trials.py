"""The action `trials`: its program runs on the host, and what it printed is kept on the deploy host."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction


class ActionModule(HostAction):
    """Ansible's name for an action."""

    PROGRAM = "trials"
    OPTIONS: ClassVar[dict[str, Any]] = {
        "steps": {"type": "list", "elements": "dict", "required": True},
        "serve": {"type": "bool", "default": False},
        "keep": {"type": "str", "required": True},
    }

    def work(self, params: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """Run the program where there is something to run, and keep each output in a file of its own lines."""
        keep, host = params.pop("keep"), str(task_vars["inventory_hostname"])
        if not params["steps"]:
            return {"changed": False, "count": 0}
        result = self.on_host(params, task_vars)
        outputs = result.pop("outputs", [])
        with (Path(keep) / f"{host}.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(output)}\n" for output in outputs)
        return result | {"count": len(outputs)}
