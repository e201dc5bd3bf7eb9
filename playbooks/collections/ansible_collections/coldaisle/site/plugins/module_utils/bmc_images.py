"""Images that are pinned by their SHA-256: measured on the deploy host before a BMC is told to take them."""

from __future__ import annotations

import hashlib

import requests
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import (
    held,
    read_record,
    record_path,
    write_record,
)
from ansible_collections.coldaisle.site.plugins.module_utils.steady import age_s, moment, stamp

CHUNK_BYTES = 1024 * 1024
GOOD_FOR_S = 3600.0
"""A hall of BMCs takes one image; it is not fetched again for each of them."""

FETCH_S = 900.0


def check_image(url: str, sha256: str, ca_file: str | None = None) -> None:
    """
    See that what lies at `url` has this digest.

    Raises:
        BmcError: it has another one, or cannot be fetched.

    """
    place = record_path("image", sha256)
    with held([place.with_suffix(".lock")], FETCH_S):
        record = read_record(place)
        if record.get("url") == url and age_s(record, moment()) < GOOD_FOR_S:
            return
        measured = _measured(url, ca_file)
        if measured != sha256:
            text = f"{url} has SHA-256 {measured}, and {sha256} is pinned"
            raise BmcError("wrong-image", text, "who changed the image, and the digest that its vendor publishes")
        write_record(place, {"url": url, **stamp(moment())})


def _measured(url: str, ca_file: str | None) -> str:
    digest = hashlib.sha256()
    try:
        with requests.get(url, stream=True, timeout=60, verify=ca_file or True) as answer:
            answer.raise_for_status()
            for chunk in answer.iter_content(CHUNK_BYTES):
                digest.update(chunk)
    except requests.RequestException as error:
        raise BmcError(
            "no-image", f"{url} cannot be fetched: {error}", "the address, and the server that has it"
        ) from error
    return digest.hexdigest()
