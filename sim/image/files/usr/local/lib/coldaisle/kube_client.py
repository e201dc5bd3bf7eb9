"""
The stand-in kubelet's way to the API server: kubeconfigs, requests, and the bootstrap of its own certificate.

Python's own library and the openssl command only: hosts have nothing else.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from block_yaml import parse_document

Json = dict[str, Any]
SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
TIMEOUT_S = 10
SIGNING_S = 60
NOT_FOUND = 404


class RefusedError(Exception):
    """The API server refused; `status` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        """Keep the status beside the server's message."""
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """A client of the API server with the credentials of a kubeconfig."""

    def __init__(self, path: Path) -> None:
        """Read the current context of a kubeconfig file."""
        kubeconfig = parse_document(path.read_text())
        context = _named(kubeconfig, "contexts", kubeconfig["current-context"])["context"]
        self.cluster: Json = _named(kubeconfig, "clusters", context["cluster"])["cluster"]
        user = _named(kubeconfig, "users", context["user"])["user"]
        self.server: str = self.cluster["server"].rstrip("/")
        self._token: str | None = user.get("token")
        self._tls = ssl.create_default_context(cadata=_content(self.cluster, "certificate-authority"))
        if "client-certificate" in user:
            self._tls.load_cert_chain(user["client-certificate"], user.get("client-key"))

    def get(self, path: str) -> Json | None:
        """Return an object, or None when it is not there."""
        try:
            return self.call("GET", path)
        except RefusedError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    def call(self, method: str, path: str, body: Json | None = None, kind: str = "application/json") -> Json:
        """Send one request and return the answer. Raises RefusedError, or OSError when nobody answers."""
        headers = {"Content-Type": kind, "Accept": "application/json", "User-Agent": "kubelet"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, data=data, headers=headers, method=method)  # noqa: S310 - https
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=self._tls) as response:  # noqa: S310 - https
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            raise RefusedError(error.code, error.read(400).decode(errors="replace")) from error


def bootstrap(bootstrap_kubeconfig: Path, kubeconfig: Path, certificate: Path, node: str) -> None:
    """Ask for the node's client certificate with a bootstrap token, and write it and the node's kubeconfig."""
    api = Api(bootstrap_kubeconfig)
    key, request = _new_request(node)
    write(certificate, _sign(api, request) + key)
    write(kubeconfig, json.dumps(_own_kubeconfig(api.cluster, certificate), indent=1))


def _new_request(node: str) -> tuple[str, str]:
    """Return (key, certificate request) in PEM for the node's user."""
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder, "key")
        _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(key))
        request = _openssl("req", "-new", "-key", str(key), "-subj", f"/O=system:nodes/CN=system:node:{node}")
        return key.read_text(), request


def _openssl(*words: str) -> str:
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"openssl {words[0]}: {done.stderr.strip()}")
    return done.stdout


def _sign(api: Api, request: str) -> str:
    """File a CertificateSigningRequest and wait until the controllers have approved and signed it."""
    spec = {
        "request": base64.b64encode(request.encode()).decode(),
        "signerName": SIGNER,
        "usages": ["digital signature", "client auth"],
    }
    kind = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    name = api.call("POST", REQUESTS, {**kind, "metadata": {"generateName": "node-csr-"}, "spec": spec})["metadata"][
        "name"
    ]
    deadline = time.monotonic() + SIGNING_S
    while time.monotonic() < deadline:
        signed = (api.get(f"{REQUESTS}/{name}") or {}).get("status", {}).get("certificate")
        if signed:
            return base64.b64decode(signed).decode()
        time.sleep(0.2)
    raise OSError(f"certificate request {name} was not signed within {SIGNING_S} s")


def _own_kubeconfig(cluster: Json, certificate: Path) -> Json:
    user = {"client-certificate": str(certificate), "client-key": str(certificate)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "default-cluster", "cluster": cluster}],
        "users": [{"name": "default-auth", "user": user}],
        "contexts": [{"name": "default", "context": {"cluster": "default-cluster", "user": "default-auth"}}],
        "current-context": "default",
    }


def _named(kubeconfig: Json, section: str, name: str) -> Json:
    found: Json = next(entry for entry in kubeconfig[section] if entry["name"] == name)
    return found


def _content(record: Json, key: str) -> str:
    """Return the text of a kubeconfig's KEY-data, or of the file that KEY names."""
    if f"{key}-data" in record:
        return base64.b64decode(record[f"{key}-data"]).decode()
    return Path(record[key]).read_text()


def write(path: Path, text: str) -> None:
    """Write a file that only root reads, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    fresh.replace(path)
