"""A BMC's Redfish service beside its system: one login, resources as they are, errors in our words."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import sushy.exceptions
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, retried
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_connector import connector_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Identity
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_quirks import habits_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_wire import asked

ROOT = "/redfish/v1/"


class ForbiddenError(BmcError):
    """The BMC knows the user and lets it do less; `messages` are what it says, in Redfish's form."""

    def __init__(self, text: str, messages: list[dict[str, Any]]) -> None:
        """Keep the messages."""
        super().__init__(
            "no-privilege", text, "the role of the user on the BMC, and whether its password must be changed"
        )
        self.messages = messages


class Service:
    """
    Resources of one BMC by their paths, over basic authentication: sessions are few, and outlive a broken run.

    Every method raises BmcError where the BMC refuses, stays busy, or cannot be reached.
    """

    def __init__(self, access: Access) -> None:
        """Prepare the connection; the first request logs in."""
        self._connector: sushy.connector.Connector = connector_of(access)
        self._connector.set_http_basic_auth(access.username, access.password)

    def close(self) -> None:
        """Close the connection."""
        self._connector.close()

    def get(self, path: str) -> dict[str, Any]:
        """Return the resource at a path."""
        body: dict[str, Any] = _allowed(lambda: self._connector.get(path).json())
        return body

    def find(self, path: str | None) -> dict[str, Any] | None:
        """Return the resource at a path, None where the BMC has no such path or nothing there."""

        def found() -> dict[str, Any] | None:
            try:
                body: dict[str, Any] = self._connector.get(path).json()
            except sushy.exceptions.ResourceNotFoundError:
                return None
            return body

        return _allowed(found) if path else None

    def members(self, path: str | None) -> Iterator[dict[str, Any]]:
        """Yield the members of a collection over all its pages; none where there is no collection."""
        for page in self.pages(path):
            yield from map(self.whole, page.get("Members") or [])

    def pages(self, path: str | None) -> Iterator[dict[str, Any]]:
        """Yield the pages of a collection as they are; none where there is no collection."""
        while path:
            page = self.find(path) or {}
            yield page
            path = page.get("Members@odata.nextLink")

    def whole(self, member: dict[str, Any]) -> dict[str, Any]:
        """Return a member of a collection: some BMCs put it there as it is, as $expand would, most a link to it."""
        return member if len(member) > 1 else self.get(member["@odata.id"])

    def patch(self, path: str, **values: object) -> None:
        """Change a resource, with its ETag where it has one."""
        etag = _allowed(lambda: self._connector.get(path).headers.get("ETag"))
        _allowed(lambda: self._connector.patch(path, data=values, etag=etag or None))

    def post(self, path: str, body: dict[str, Any]) -> Any:  # noqa: ANN401  # an answer of the requests library
        """Make a member of a collection, or do an action; return the answer with its headers."""
        return _allowed(lambda: self._connector.post(path, data=body))

    def delete(self, path: str) -> None:
        """Take a resource away."""
        _allowed(lambda: self._connector.delete(path))


def link(resource: dict[str, Any] | None, name: str) -> str | None:
    """Return the path that a resource links to, None where it has no such link: BMCs leave links out or null."""
    path = ((resource or {}).get(name) or {}).get("@odata.id")
    return str(path) if path else None


def status_of(error: BmcError) -> int | None:
    """Return the HTTP status behind an error, None where the BMC was not reached."""
    status: int | None = getattr(error.__cause__, "status_code", None)
    return status


def _allowed(call: Any) -> Any:  # noqa: ANN401  # whatever sushy returns
    try:
        return retried(lambda: asked(call, habits_of(Identity())))
    except BmcError as error:
        if status_of(error) == HTTPStatus.FORBIDDEN:
            said = getattr(error.__cause__, "extended_info", None) or []
            raise ForbiddenError(str(error.__cause__), [said] if isinstance(said, dict) else said) from error.__cause__
        raise
