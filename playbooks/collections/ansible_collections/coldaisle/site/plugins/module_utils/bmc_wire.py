"""Requests to one Redfish service by sushy's connector: errors in our words, changes with the ETag that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import sushy
import sushy.connector
import sushy.exceptions
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError, BusyError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Habits

Answer = TypeVar("Answer")
Json = dict[str, Any]

DROPPED_SIGNS = ("RemoteDisconnected", "Connection reset", "Broken pipe")
"""Words of a BMC that closed a connection which it had kept: the same question on a new one is answered."""

WRONG_TAG = {HTTPStatus.PRECONDITION_FAILED, HTTPStatus.PRECONDITION_REQUIRED}


class RefusedError(BmcError):
    """The BMC refuses for good; `words` is all that it said, to look for codes in."""

    def __init__(self, text: str, words: str, status: int) -> None:
        """Keep the words and the HTTP status."""
        super().__init__("refused", text, "the BMC's event log and its firmware version")
        self.words = words
        self.status = status

    def says(self, signs: tuple[str, ...]) -> bool:
        """Tell whether the BMC used one of these words."""
        return any(sign in self.words for sign in signs)


@dataclass(frozen=True)
class Resource:
    """What a BMC shows at a path, with the tag that a change of it may need (None: it gave none)."""

    path: str
    body: Json
    etag: str | None

    def link(self, name: str) -> str | None:
        """Return the path of a linked resource."""
        return path_of(self.body.get(name))

    @property
    def settings(self) -> str | None:
        """Return the path of the resource that takes changes for the next reset."""
        return path_of((self.body.get("@Redfish.Settings") or {}).get("SettingsObject"))


def path_of(link: Any) -> str | None:  # noqa: ANN401  # JSON of a BMC
    """Return the path in a link, None where there is none: BMCs leave links out, or set them to null."""
    path = link.get("@odata.id") if isinstance(link, dict) else None
    return str(path) if path else None


class Wire:
    """One BMC's Redfish service."""

    def __init__(self, connector: sushy.connector.Connector, habits: Habits) -> None:
        """Speak by this connector, with what is known of the BMC."""
        self.connector = connector
        self.habits = habits

    def get(self, path: str) -> Resource:
        """
        Return the resource at a path.

        Raises:
            BmcError: the BMC has none there, or does not answer as it should.
            BusyError: it cannot tell now.

        """
        answer = self.asked(lambda: self.connector.get(path))
        body = self.asked(answer.json)
        # A tag in the body is the same thing (Redfish specification, 7.6); an empty one is none.
        return Resource(path, body, answer.headers.get("ETag") or body.get("@odata.etag") or None)

    def find(self, path: str | None) -> Resource | None:
        """Return the resource at a path, None where the BMC has no such path or nothing there."""
        try:
            return self.get(path) if path else None
        except RefusedError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def members(self, path: str | None) -> Iterator[Resource]:
        """Yield the members of a collection; none where there is no collection."""
        collection = self.find(path)
        for member in (collection.body.get("Members") or []) if collection else []:
            yield self.get(member["@odata.id"])

    def patch(self, resource: Resource, change: Json) -> None:
        """
        Change a resource, with each form of its ETag until the BMC takes one.

        Raises:
            BmcError: the BMC refuses the change.
            BusyError: it cannot do it now.

        """
        forms = list(_forms(resource.etag, self.habits.etag_forms))
        for form in forms:
            headers = {"If-Match": form} if form else {}
            try:
                self.asked(partial(self.connector.patch, resource.path, data=change, headers=headers))
            except RefusedError as error:
                if error.status not in WRONG_TAG or form == forms[-1]:
                    raise
            else:
                return

    def post(self, path: str, body: Json) -> None:
        """Do an action."""
        self.asked(lambda: self.connector.post(path, data=body))

    def asked(self, call: Callable[[], Answer]) -> Answer:
        """
        Return what `call` returns; errors of the library become ours.

        Raises:
            BmcError: the BMC refuses, is not reached, or answers with something else than Redfish.
            BusyError: it cannot do it now.

        """
        return asked(call, self.habits)


def asked(call: Callable[[], Answer], habits: Habits) -> Answer:
    """
    Return what `call` returns, as `Wire.asked` does, for requests that something else than a wire makes.

    Raises:
        BmcError: the BMC refuses, is not reached, or answers with something else than Redfish.
        BusyError: it cannot do it now.

    """
    try:
        return call()
    except sushy.exceptions.AccessError as error:
        raise BmcError("wrong-credentials", "the BMC refuses user or password", "the credentials file") from error
    except sushy.exceptions.ConnectionError as error:
        if any(sign in str(error) for sign in DROPPED_SIGNS):
            raise BusyError(str(error)) from error
        raise _connection_error(str(error)) from error
    except sushy.exceptions.HTTPError as error:
        raise _refusal(error, habits) from error
    except (sushy.exceptions.SushyError, ValueError) as error:
        raise BmcError("unexpected-answer", str(error), "the BMC's firmware version") from error


def _refusal(error: Any, habits: Habits) -> BusyError | RefusedError:  # noqa: ANN401  # sushy has no types
    text = f"{error.code}: {error.detail or error}"
    refused = RefusedError(text, f"{text} {error.extended_info}", int(error.status_code))
    if refused.says(habits.post):
        return BusyError(text, habits.post_patience_s)
    if error.status_code in {HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE} or refused.says(habits.busy):
        return BusyError(text)
    return refused


def _forms(etag: str | None, names: tuple[str, ...]) -> Iterator[str | None]:
    """Yield the values of If-Match to try; None sends none."""
    if not etag:
        yield None
        return
    forms = {"original": etag, "strong": etag.removeprefix("W/"), "none": None}
    yield from dict.fromkeys(forms[name] for name in names)


def _connection_error(text: str) -> BmcError:
    lowered = text.lower()
    if "certificate" in lowered or "ssl" in lowered:
        return BmcError("tls", "the BMC's certificate is not one that we trust", "bmc_ca_file, and the clock of both")
    if "timed out" in lowered or "timeout" in lowered:
        return BmcError("no-answer", "the BMC did not answer in time", "its cable, address, and whether it hangs")
    return BmcError("no-connection", text[-200:], "its address, and whether Redfish is switched on")
