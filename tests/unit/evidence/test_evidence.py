"""Statements that are signed, kept, and believed only as they were written."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from coldaisle.evidence import (
    EvidenceError,
    Signer,
    Statement,
    Store,
    key_id,
    load_public_key,
    load_signer,
    sign,
    verify,
)
from coldaisle.evidence.dsse import pae
from coldaisle.evidence.store import file_name

WHEN = datetime(2026, 11, 28, 16, 15, 35, tzinfo=UTC)
SAID = Statement(
    kind="acceptance",
    subjects=("r01-n01",),
    plan_hash="ab" * 32,
    who="ops",
    when=WHEN,
    body={"result": "failed", "part": "GPU 5, slot 0000:9a:00.0", "floor_gb_s": 360.5, "word": "Prüfung"},
)


def signer() -> Signer:
    """Return a new key."""
    key = Ed25519PrivateKey.generate()
    return Signer(key, key_id(key.public_key()))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return an empty store with a key of its own."""
    own = signer()
    return Store(tmp_path / "evidence", tmp_path / "waiting", {own.key_id: own.key.public_key()}, own)


def test_what_is_signed_is_the_specifications_own_example() -> None:
    """PAE of the DSSE specification's example: type http://example.com/HelloWorld, payload `hello world`."""
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_lengths_are_of_bytes() -> None:
    """A letter of two bytes counts as two, else a verifier of another make refuses the signature."""
    assert pae("é", "ü".encode()) == b"DSSEv1 2 \xc3\xa9 2 \xc3\xbc"


def test_a_statement_comes_back_as_it_was() -> None:
    """Signing and verifying loses nothing."""
    own = signer()
    assert verify(sign(SAID, own), {own.key_id: own.key.public_key()}) == SAID


def test_a_payload_is_an_in_toto_statement_of_the_plan() -> None:
    """Subject, digest, predicate type and predicate stand where in-toto's readers look for them."""
    data = json.loads(SAID.payload())
    assert data["_type"] == "https://in-toto.io/Statement/v1"
    assert data["subject"] == [{"name": "r01-n01", "digest": {"sha256": "ab" * 32}}]
    assert data["predicateType"] == "urn:coldaisle:evidence:acceptance:v1"
    assert data["predicate"]["when"] == "2026-11-28T16:15:35Z"


def test_no_changed_byte_is_believed() -> None:
    """Every byte of an envelope, flipped in one bit, is a refusal."""
    own = signer()
    envelope, trusted = sign(SAID, own), {own.key_id: own.key.public_key()}
    for place in range(len(envelope)):
        changed = bytearray(envelope)
        changed[place] ^= 1
        with pytest.raises(EvidenceError):
            verify(bytes(changed), trusted)


@pytest.mark.parametrize("change", [lambda e: e[:-1], lambda e: e + b" ", lambda e: e[: len(e) // 2], lambda _: b""])
def test_no_envelope_of_another_length_is_believed(change: Callable[[bytes], bytes]) -> None:
    """Cut short, added to and empty are refusals."""
    own = signer()
    with pytest.raises(EvidenceError):
        verify(change(sign(SAID, own)), {own.key_id: own.key.public_key()})


def test_a_strange_key_is_named() -> None:
    """A signature that fits, by a key that the site does not name, is not believed."""
    own, other = signer(), signer()
    with pytest.raises(EvidenceError, match="not trusted") as caught:
        verify(sign(SAID, other), {own.key_id: own.key.public_key()})
    assert other.key_id in caught.value.have


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "Acceptance"},
        {"subjects": ()},
        {"subjects": ("a", "a")},
        {"plan_hash": "ab"},
        {"when": WHEN.replace(tzinfo=None)},
    ],
)
def test_what_could_not_be_read_back_is_not_made(wrong: dict[str, object]) -> None:
    """A statement without subjects, time zone or a whole hash never gets as far as a signature."""
    with pytest.raises(ValueError, match=r"kind|subjects|hash|time zone"):
        replace(SAID, **wrong)  # type: ignore[arg-type]


def write_key(path: Path, kind: str = "openssh") -> Path:
    """Write a new Ed25519 key in one of the two forms, with its public half beside it."""
    key = Ed25519PrivateKey.generate()
    form = serialization.PrivateFormat.OpenSSH if kind == "openssh" else serialization.PrivateFormat.PKCS8
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    path.chmod(0o600)
    line = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    path.with_name(f"{path.name}.pub").write_bytes(line)
    return path


@pytest.mark.parametrize("kind", ["openssh", "pem"])
def test_keys_of_both_forms_are_read(tmp_path: Path, kind: str) -> None:
    """A private key and the public half beside it have one name."""
    path = write_key(tmp_path / "key", kind)
    assert load_signer(path).key_id == key_id(load_public_key(tmp_path / "key.pub"))


def test_a_key_is_named_as_ssh_keygen_names_it(tmp_path: Path) -> None:
    """The fingerprint is the one that people can compare."""
    path = write_key(tmp_path / "key")
    told = subprocess.run(["ssh-keygen", "-l", "-f", f"{path}.pub"], capture_output=True, text=True, check=True)
    assert load_signer(path).key_id in told.stdout


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """As SSH does it."""
    path = write_key(tmp_path / "key")
    path.chmod(0o640)
    with pytest.raises(EvidenceError, match="others than its owner"):
        load_signer(path)


def test_a_key_that_cannot_be_used_is_not_quoted(tmp_path: Path) -> None:
    """Half a key, a key of another kind and none at all are told by the file's name, never by what is in it."""
    path = write_key(tmp_path / "key")
    secret = path.read_text().splitlines()[1]
    path.write_text(path.read_text()[:200])
    with pytest.raises(EvidenceError) as caught:
        load_signer(path)
    assert secret not in str(caught.value)
    rsa = generate_private_key(65537, 2048)
    form = serialization.PrivateFormat.PKCS8
    path.write_bytes(rsa.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    with pytest.raises(EvidenceError, match="not Ed25519"):
        load_signer(path)
    with pytest.raises(EvidenceError, match="cannot be read"):
        load_signer(tmp_path / "none")


def test_a_key_shows_nowhere() -> None:
    """The text form of a signer, as a log would have it, does not hold the key."""
    own = signer()
    raw = own.key.private_bytes(
        serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
    )
    assert raw.hex() not in repr(own)
    assert "key_id" not in repr(own)


def test_kept_evidence_is_listed_in_order(store: Store) -> None:
    """By time; each file opens as the statement that was kept."""
    later = replace(SAID, when=WHEN.replace(hour=18), subjects=("r01-n02", "r01-n03"))
    paths = [store.keep(later), store.keep(SAID)]
    assert [kept.statement for kept in store.read()] == [SAID, later]
    assert paths[0].name.startswith("20261128T181535Z-acceptance-r01-n02+1-")


def test_evidence_about_some_nodes_is_read_without_that_of_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only files that are named for them are opened; what another runner adds meanwhile is there at the next look."""
    many = replace(SAID, subjects=("r01-n02", "r01-n03"), when=WHEN.replace(hour=18))
    for said in (SAID, replace(SAID, subjects=("r01-n010",)), replace(SAID, kind="wipe"), many):
        store.keep(said)
    opened = list[str]()
    whole = Store.open

    def noted(own: Store, path: Path) -> Statement:
        opened.append(path.name)
        return whole(own, path)

    monkeypatch.setattr(Store, "open", noted)
    assert list(store.about("acceptance", ["r01-n01", "r01-n02"])) == [SAID, many]
    assert [name.split("-acceptance-")[1][:7] for name in opened] == ["r01-n01", "r01-n02"]
    assert list(store.about("acceptance", ["r01-n03"])) == []
    later = replace(SAID, when=WHEN.replace(hour=19))
    replace(store).keep(later)
    assert list(store.about("acceptance", ["r01-n01"])) == [SAID, later]


@pytest.mark.parametrize("lie", [{"kind": "acceptance-r01"}, {"subjects": ("r01/n01",)}])
def test_a_name_that_could_be_of_another_is_decided_by_what_the_file_holds(store: Store, lie: dict[str, Any]) -> None:
    """Kinds have dashes, and letters of subjects that no file's name has are written as others."""
    store.keep(replace(SAID, **({"subjects": ("n01",)} | lie)))
    assert list(store.about("acceptance", ["r01-n01", "r01_n01"])) == []


def test_evidence_that_cannot_be_believed_is_about_nobody(store: Store) -> None:
    """Neither a file that was renamed for another node, nor one with a changed byte."""
    path = store.keep(SAID)
    other = path.with_name(path.name.replace("n01", "n02"))
    other.write_bytes(path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b'"payload":"ey', b'"payload":"fy'))
    assert list(store.about("acceptance", ["r01-n01", "r01-n02"])) == []


def test_keeping_twice_is_keeping_once(store: Store) -> None:
    """A retry leaves one file, the same to the byte and in its time."""
    first = store.keep(SAID)
    before = first.stat().st_mtime_ns
    assert store.keep(SAID) == first
    assert len(store.files()) == 1
    assert first.stat().st_mtime_ns == before


def test_a_file_under_another_name_is_found(store: Store) -> None:
    """Good evidence of one node does not pass as that of another."""
    path = store.keep(SAID)
    path.rename(path.with_name(path.name.replace("n01", "n02")))
    (kept,) = store.read()
    assert kept.problem is not None
    assert "name" in kept.problem.what


def full(*_: object) -> int:
    """Do as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_store_loses_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there stays, no half of a file is left, and the message says where there is no room."""
    first = store.keep(SAID)
    with monkeypatch.context() as disk:
        disk.setattr("coldaisle.files.os.fsync", full)
        with pytest.raises(EvidenceError, match="could not be kept") as caught:
            store.keep(replace(SAID, who="later"))
    assert "No space left" in caught.value.have
    assert [kept.statement for kept in store.read()] == [SAID]
    assert list(store.folder.iterdir()) == [first]
    assert list(store.waiting.iterdir()) == []


def test_what_a_store_cannot_take_waits_and_is_brought_in(store: Store) -> None:
    """A folder that cannot be made stands for a full or lost one; its evidence is listed all the same."""
    store.folder.write_text("no folder")
    waiting = store.keep(SAID)
    assert waiting.parent == store.waiting
    assert [kept.statement for kept in store.read()] == [SAID]
    store.folder.unlink()
    later = store.keep(replace(SAID, when=WHEN.replace(hour=18)))
    assert [path.parent for path in store.files()] == [store.folder] * 2
    assert list(store.waiting.iterdir()) == []
    assert later in store.files()


_KILLED = """
import os, signal, sys
from pathlib import Path
from coldaisle.evidence import store
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "flush":
    os.fsync = die
else:
    Path.replace = die
store.write_once(Path(sys.argv[1]) / "new.dsse.json", b"x" * 100_000)
"""


@pytest.mark.parametrize("moment", ["flush", "name"])
def test_a_kill_in_the_middle_loses_nothing(store: Store, moment: str) -> None:
    """A process that dies before or after the bytes are on the disk harms no other."""
    store.keep(SAID)
    done = subprocess.run([sys.executable, "-c", _KILLED, str(store.folder), moment], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(store.folder.iterdir())) == 2, "what the killed process left is there, and hidden"
    assert [kept.statement for kept in store.read()] == [SAID]
    store.keep(replace(SAID, who="later"))
    assert all(kept.statement for kept in store.read())


def test_a_store_without_a_key_only_reads(store: Store) -> None:
    """Nothing unsigned is ever kept."""
    reader = replace(store, signer=None)
    with pytest.raises(EvidenceError, match="no key"):
        reader.keep(SAID)
    assert not store.folder.exists()


def test_names_are_safe_as_files() -> None:
    """A subject with a path in it stays in the folder."""
    assert "/" not in file_name(replace(SAID, subjects=("../../etc",)), b"")


_FULL = """
import sys
from pathlib import Path
from coldaisle.evidence.store import write_once
folder = Path(sys.argv[1])
write_once(folder / "small.dsse.json", b"x" * 1000)
try:
    write_once(folder / "large.dsse.json", b"x" * 1_000_000)
except OSError as error:
    print(error.strerror, sorted(path.name for path in folder.iterdir()))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk in a namespace of its own")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """A disk of 64 KiB: what was kept stays, and nothing of what did not fit."""
    mount = f"mount -t tmpfs -o size=64k none {tmp_path} && exec {sys.executable} -c '{_FULL}' {tmp_path}"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", mount], capture_output=True, text=True, check=False)
    assert done.stdout == "No space left on device ['small.dsse.json']\n", done.stderr
