"""A secret of the deploy host, by reference."""

from __future__ import annotations

DOCUMENTATION = r"""
name: secret
short_description: A secret by reference
description:
  - Returns what C(file:PATH) or C(env:NAME) holds on the deploy host. Give it to options that are not logged only.
options:
  _terms:
    description: The references.
    required: true
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Join
  coldaisle.site.join:
    kubeconfig: "{{ kubeconfig }}"
    token: "{{ lookup('coldaisle.site.secret', 'file:~/token') }}"
"""

RETURN = r"""
_raw:
  description: The secrets.
  type: list
  elements: str
"""

from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_secret


class LookupModule(LookupBase):  # type: ignore[misc]  # Ansible carries no types
    """Ansible's name for a lookup."""

    def run(self, terms: list[str], variables: Any = None, **_options: Any) -> list[str]:  # noqa: ANN401, ARG002  # Ansible's signature
        """Return the secrets in the order of their references."""
        try:
            return [read_secret(term) for term in terms]
        except FactError as error:
            raise AnsibleLookupError(str(error)) from error
