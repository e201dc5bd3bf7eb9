"""Secrets by reference: `file:PATH` or `env:NAME`, read on the deploy host at the moment of use."""

from __future__ import annotations

import os
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError


def read_secret(reference: str) -> str:
    """
    Return the text that a reference names.

    Raises:
        FactError: the reference has another form, or there is nothing where it points.

    """
    kind, _, where = reference.partition(":")
    if kind == "env":
        if where not in os.environ:
            raise FactError(f"{reference}: the environment variable {where} is not set")
        return os.environ[where]
    if kind != "file":
        raise FactError(f"{reference}: write file:PATH or env:NAME")
    try:
        return Path(where).expanduser().read_text(encoding="utf-8").strip()
    except OSError as error:
        raise FactError(f"{reference}: {error.strerror}") from error


def read_credentials(reference: str) -> tuple[str, str]:
    """
    Return user name and password of `file:PATH` or `env:PREFIX`.

    The file is YAML with `username` and `password`; the variables are PREFIX_USERNAME and PREFIX_PASSWORD.

    Raises:
        FactError: as `read_secret`, or a part of the two is missing.

    """
    if reference.startswith("env:"):
        return read_secret(f"{reference}_USERNAME"), read_secret(f"{reference}_PASSWORD")
    import yaml  # noqa: PLC0415  # of the deploy host: hosts use this file for plain secrets

    content = yaml.safe_load(read_secret(reference))
    if not isinstance(content, dict) or not {"username", "password"} <= content.keys():
        raise FactError(f"{reference}: the file must have the keys username and password")
    return str(content["username"]), str(content["password"])
