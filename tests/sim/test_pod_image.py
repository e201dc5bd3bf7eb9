"""The images of pods: what an OCI runtime finds in the tar that a guest takes in."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from sim.image import kubelet, pod_image, recipe

BUSYBOX = b"\x7fELF of a test"


@pytest.fixture
def blobs(tmp_path: Path) -> dict[str, bytes]:
    """Return the files of the layout by their names."""
    (tmp_path / "busybox").write_bytes(BUSYBOX)
    pod_image.write_images(tmp_path / "busybox", tmp_path / "images.tar")
    with tarfile.open(tmp_path / "images.tar") as archive:
        members = ((member.name, archive.extractfile(member)) for member in archive)
        return {name: opened.read() for name, opened in members if opened is not None}


def blob(blobs: dict[str, bytes], descriptor: dict[str, Any]) -> bytes:
    """Return what a descriptor points at, once its digest and its size are seen to be right."""
    content = blobs["blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")]
    assert hashlib.sha256(content).hexdigest() == descriptor["digest"].removeprefix("sha256:")
    assert len(content) == descriptor["size"]
    return content


def test_every_blob_is_what_its_digest_says(blobs: dict[str, bytes]) -> None:
    """From the index over manifests and configurations to the layer, which both images share."""
    layers = set()
    for described in json.loads(blobs["index.json"])["manifests"]:
        manifest = json.loads(blob(blobs, described))
        config = json.loads(blob(blobs, manifest["config"]))
        (layer,) = manifest["layers"]
        assert config["rootfs"]["diff_ids"] == [layer["digest"]]
        assert blob(blobs, layer)
        layers.add(layer["digest"])
    assert len(layers) == 1


def test_images_have_the_names_that_pods_ask_for(blobs: dict[str, bytes]) -> None:
    """Under the annotation that containerd reads, with the command of each."""
    found = {}
    for described in json.loads(blobs["index.json"])["manifests"]:
        config = json.loads(blob(blobs, json.loads(blob(blobs, described))["config"]))
        found[described["annotations"]["io.containerd.image.name"]] = tuple(config["config"]["Cmd"])
    assert found == dict(pod_image.COMMAND_OF)


def test_the_layer_holds_busybox_and_its_commands(blobs: dict[str, bytes]) -> None:
    """The program itself, executable, and a link for each command, and none that leads elsewhere."""
    described = json.loads(blobs["index.json"])["manifests"][0]
    content = blob(blobs, json.loads(blob(blobs, described))["layers"][0])
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = {member.name: member for member in archive}
        opened = archive.extractfile("bin/busybox")
        assert opened is not None
        assert opened.read() == BUSYBOX
    assert members["bin/busybox"].mode & 0o111
    assert {name.removeprefix("bin/") for name, member in members.items() if member.issym()} == set(pod_image.COMMANDS)
    assert {member.linkname for member in members.values() if member.issym()} == {"busybox"}


def test_the_real_kubelet_takes_the_place_of_the_stand_in(tmp_path: Path) -> None:
    """The programs of the toolchain lie where the stand-in lay, and its service starts with the kubelet."""
    layer, root = tmp_path / "layer", tmp_path / "root"
    (layer / "usr/local/bin").mkdir(parents=True)
    (layer / "usr/local/bin/kubelet").write_text("#!/usr/bin/python3\n")
    (root / "bin").mkdir(parents=True)
    (root / "bin/busybox").write_bytes(BUSYBOX)
    programs = {name: tmp_path / f"built-{name}" for name in kubelet.TOOLS}
    for name, path in programs.items():
        path.write_text(f"program {name}")
    kubelet.add_to_layer(layer, root, programs)
    assert (layer / "usr/local/bin/kubelet").read_text() == "program kubelet"
    assert (layer / "usr/local/bin/kubelet").stat().st_mode & 0o111
    wanted = layer / "etc/systemd/system/kubelet.service.wants/coldaisle-device-plugin.service"
    assert (layer / str(wanted.readlink()).lstrip("/")).is_file()
    assert (layer / kubelet.POD_IMAGES).is_file()


def test_only_the_image_with_the_kubelet_holds_what_makes_pods() -> None:
    """Plain guests keep their memory: no plugins of networks, no tool of containerd, another digest."""
    assert set(recipe.LEFT_OUT) - set(kubelet.LEFT_OUT) == {"usr/bin/ctr", "usr/lib/cni"}
    assert kubelet.digest() != recipe.image_digest()
