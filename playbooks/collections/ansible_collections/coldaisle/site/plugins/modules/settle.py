#!/usr/bin/python
"""Make facts of a host true, and read each one back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: settle
short_description: Make facts of a host true, and read each one back
description:
  - Reads every fact, sets those that do not fit the plan, and reads them again.
  - Fails when a fact did not take (a kernel may ignore a value and say nothing), or when a fact that no host can
    change does not fit (the number of GPUs, the driver's version).
options:
  facts:
    description: Planned value of each fact.
    type: dict
    required: true
  links:
    description: Ports of the host, each with C(name) and C(mac).
    type: list
    elements: dict
    default: []
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Settle the kernel
  coldaisle.site.settle:
    facts:
      sysctl.net.core.rmem_max: "67108864"
      hugepages_2mi: 8
"""

RETURN = r"""
changes:
  description: The facts that did not fit, each with what was seen and what is planned.
  returned: always
  type: list
  elements: dict
  sample: [{"fact": "mtu.rail0", "seen": 1500, "planned": 9000}]
facts:
  description: The facts as they are at the end; in check mode as they are now.
  returned: always
  type: dict
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.facts import different, fact_of, read_facts
from ansible_collections.coldaisle.site.plugins.module_utils.host import Context, FactError


def main() -> None:
    """Settle the facts of this task."""
    module = AnsibleModule(
        argument_spec={
            "facts": {"type": "dict", "required": True},
            "links": {"type": "list", "elements": "dict", "default": []},
        },
        supports_check_mode=True,
    )
    planned: dict[str, Any] = module.params["facts"]
    seen, errors = read_facts(planned)
    names = different(planned, seen)
    changes = [{"fact": name, "seen": seen.get(name, errors.get(name)), "planned": planned[name]} for name in names]
    result: dict[str, Any] = {"changed": bool(names), "changes": changes, "facts": seen}
    result["diff"] = {
        "before": _lines({change["fact"]: change["seen"] for change in changes}),
        "after": _lines({change["fact"]: change["planned"] for change in changes}),
    }
    fixed = [change for change in changes if _is_fixed(str(change["fact"]), in_check_mode=module.check_mode)]
    if fixed:
        module.fail_json(msg=_message(fixed), **result)
    if names and not module.check_mode:
        problems = _set_all(planned, names, Context(links={link["name"]: link for link in module.params["links"]}))
        result["facts"], errors = read_facts(planned)
        left = different(planned, result["facts"])
        if left:
            module.fail_json(msg=_message(_left(left, planned, result["facts"], {**errors, **problems})), **result)
    module.exit_json(**result)


def _is_fixed(name: str, *, in_check_mode: bool) -> bool:
    """Tell whether nothing that this role does makes the fact true; in check mode, files were not written yet."""
    fact, _rest = fact_of(name)
    return fact.set is None and not (fact.from_files and in_check_mode)


def _set_all(planned: dict[str, Any], names: list[str], context: Context) -> dict[str, str]:
    """Set each fact; one that cannot be set does not keep the others from it. Return what went wrong."""
    problems = {}
    for name in names:
        fact, rest = fact_of(name)
        try:
            if fact.set:
                fact.set(rest, planned[name], context)
        except (FactError, OSError) as error:
            problems[name] = str(error)
    return problems


def _left(names: list[str], planned: dict[str, Any], seen: dict[str, Any], why: dict[str, str]) -> list[dict[str, Any]]:
    return [{"fact": name, "planned": planned[name], "seen": why.get(name, seen.get(name))} for name in names]


def _message(changes: list[dict[str, Any]]) -> str:
    """Return one sentence a fact: what it is, what it should be, and what to look at."""
    said = []
    for change in changes:
        hint = fact_of(change["fact"])[0].hint
        look = f" (look at {hint})" if hint else ""
        said.append(f"{change['fact']} is {change['seen']}, planned {change['planned']}{look}")
    return "; ".join(said)


def _lines(values: dict[str, Any]) -> str:
    return "".join(f"{name} = {value}\n" for name, value in values.items())


if __name__ == "__main__":
    main()
