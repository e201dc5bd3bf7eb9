"""
A connection to one BMC's Redfish service, by sushy; and one that does not ask twice.

A question costs a BMC, and us, more than anything else that is done: where it closes the connection behind its answer,
the next one is a TLS handshake. What a BMC has shown over a login therefore stays known until something is asked of it
that may change it, or a time has passed in which it may have changed by itself.
"""

from __future__ import annotations

from typing import Any, TypeVar

import sushy.connector
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access

Kind = TypeVar("Kind", bound=sushy.connector.Connector)


class OnceConnector(sushy.connector.Connector):  # type: ignore[misc]  # sushy carries no types
    """Asks for each resource once, until a change is asked for, taken or refused, or `look_again` is said."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401  # sushy's own
        """Know nothing yet."""
        super().__init__(*arguments, **options)
        self._known: dict[str, Any] = {}

    def look_again(self) -> None:
        """Take nothing for known that was read before."""
        self._known.clear()

    def get(self, path: str = "", *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # an answer of requests
        """Return the answer to a GET; one with data or headers of its own is always asked."""
        if arguments or options:
            return super().get(path, *arguments, **options)
        if path not in self._known:
            self._known[path] = super().get(path)
        return self._known[path]

    def post(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # an answer of requests
        """Do an action."""
        self.look_again()
        return super().post(*arguments, **options)

    def patch(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # an answer of requests
        """Change a resource."""
        self.look_again()
        return super().patch(*arguments, **options)

    def put(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # an answer of requests
        """Replace a resource."""
        self.look_again()
        return super().put(*arguments, **options)

    def delete(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # an answer of requests
        """Take a resource away."""
        self.look_again()
        return super().delete(*arguments, **options)


def connector_of(access: Access, kind: type[Kind] = sushy.connector.Connector) -> Kind:
    """Return a connection to the BMC; nobody is logged in yet."""
    connector: Kind = kind(
        url_of(access),
        verify=access.ca_file or True,
        default_request_timeout=access.timeout_s,
        connect_timeout=access.timeout_s / 2,
        server_side_retries=1,
    )
    return connector


def url_of(access: Access) -> str:
    """Return the URL of the BMC: https where its address names no scheme."""
    return access.address if "://" in access.address else f"https://{access.address}"
