"""
How a host is logged in to without a run of Ansible: by Ansible's own settings, or not at all.

Ansible's plugins read them from where they always do (variables of the host, environment, ansible.cfg) and make the
words of the ssh that they would start themselves, so that there is no second reading of the settings. What only a run
of Ansible can do is left to one; `login_of` is the one place that decides it, and says why.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SSH = frozenset({"ssh", "smart", "ansible.builtin.ssh"})
TEMPLATE_SIGNS = ("{{", "{%", "{#")
OWN_PREFIXES = ("ansible_", "read_")
"""What the variables begin with that a read looks at."""

SHELL = "/bin/sh"
SHARE_ONLY = ("-o", "ControlMaster=no")
"""A connection that a play keeps open is used, and none is left open for the next: one login reads all."""

NOT_SHARED = ("-o", "ControlPath=none")
"""No connection of others is used. Of a setting that is given twice, ssh takes the first (ssh_config(5))."""

_SOCKET = re.compile(r'ControlPath="?([^%"]+)"?')
"""The option that names a shared connection's socket, unless ssh itself has to fill it in."""


@dataclass(frozen=True, slots=True)
class Login:
    """
    The words that log in to a host, the command that runs a Python there, and how often a silent host is asked.

    `socket` is that of the connection which a play may have left open, where its path is known.
    """

    words: tuple[str, ...]
    python: str
    tries: int
    socket: Path | None = None

    def alone(self) -> Login:
        """Return the same login by a connection of its own, with one try less: the shared one was asked already."""
        first, *rest = self.words
        return Login((first, *NOT_SHARED, *rest), self.python, max(1, self.tries - 1))


@dataclass(frozen=True, slots=True)
class OnlyAnsible:
    """Why a host is read by a run of Ansible."""

    why: str


def login_of(host: str, variables: Mapping[str, Any]) -> Login | OnlyAnsible:
    """
    Return how a host of these variables is logged in to.

    Raises:
        ansible.errors.AnsibleError: a setting is wrong.

    """
    why = next(_only_ansible(variables), None)
    return OnlyAnsible(why) if why else _by_plugins({**variables, "inventory_hostname": host})


def _only_ansible(variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the variables themselves say against it; this needs no Ansible."""
    connection = variables.get("ansible_connection", "ssh")
    if connection not in SSH:
        yield f"its connection is {connection}"
    if variables.get("ansible_shell_type", "sh") != "sh":
        yield f"its shell is {variables['ansible_shell_type']}"
    for name, value in variables.items():
        if name.startswith(OWN_PREFIXES) and any(sign in str(value) for sign in TEMPLATE_SIGNS):
            yield f"its variable {name} is a template"


@cache
def _load_plugins() -> None:
    """Let Ansible find its plugins, and Python our collection."""
    from ansible.plugins.loader import init_plugin_loader  # noqa: PLC0415  # half a second of CPU, not always needed

    init_plugin_loader()


def _by_plugins(variables: dict[str, Any]) -> Login | OnlyAnsible:
    _load_plugins()
    from ansible import constants  # noqa: PLC0415  # see above
    from ansible.playbook.play_context import PlayContext  # noqa: PLC0415
    from ansible.plugins.loader import connection_loader  # noqa: PLC0415

    if "ansible_connection" not in variables and constants.DEFAULT_TRANSPORT not in SSH:
        return OnlyAnsible(f"Ansible's own settings say {constants.DEFAULT_TRANSPORT} for its connection")
    connection = connection_loader.get("ssh", PlayContext(), None)
    connection.set_options(var_options=variables)
    if connection.get_option("password"):
        return OnlyAnsible("it is logged in to with a password")
    connection.host = connection.get_option("host")
    connection.port = connection.get_option("port")
    connection.user = connection.get_option("remote_user")
    python = _python(variables, connection.user)
    if isinstance(python, OnlyAnsible):
        return python
    # The one method that makes the words; the public one next to it starts the process, too, and waits for it.
    words = connection._build_command(connection.get_option("ssh_executable"), "ssh", connection.host)  # noqa: SLF001
    first, *rest = (word.decode() if isinstance(word, bytes) else word for word in words)
    tries = 1 + connection.get_option("reconnection_retries")
    return Login((first, *SHARE_ONLY, *rest), python, tries, _socket(rest))


def _socket(words: Iterable[str]) -> Path | None:
    """Return where the socket of a shared connection would lie; None where there is none, or only ssh knows."""
    found = next((match for word in words if (match := _SOCKET.fullmatch(word))), None)
    return Path(found[1]) if found else None


def _python(variables: Mapping[str, Any], user: str | None) -> str | OnlyAnsible:
    """Return the command that lets the host's Python run what comes on its input, as root where the settings say so."""
    from ansible import constants  # noqa: PLC0415  # see above
    from ansible.module_utils.parsing.convert_bool import boolean  # noqa: PLC0415
    from ansible.plugins.loader import become_loader, get_shell_plugin  # noqa: PLC0415
    from ansible_collections.coldaisle.site.plugins.plugin_utils.packing import command  # noqa: PLC0415

    plain = command(str(variables.get("ansible_python_interpreter", "/usr/bin/python3")))
    if not boolean(variables.get("ansible_become", constants.DEFAULT_BECOME)):
        return plain  # plain words in the login shell, whichever that is: one process less on the host
    method = variables.get("ansible_become_method", constants.DEFAULT_BECOME_METHOD)
    become = become_loader.get(method)
    if become is None or become.require_tty or not become.pipelining:
        return OnlyAnsible(f"it becomes another user by {method}")
    become.set_options(var_options=variables)
    if become.get_option("become_pass"):
        return OnlyAnsible(f"{method} asks for a password")
    if become.get_option("become_user") == user and not constants.BECOME_ALLOW_SAME_USER:
        return plain
    raised: str = become.build_become_command(plain, get_shell_plugin(executable=SHELL))
    return f"{SHELL} -c {shlex.quote(raised)}"
