"""Execution nodes in the plan: who works on what, what a run carries to a node, and what a hall serves itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.ansible import inventory
from coldaisle.render.boot import pxe_files
from coldaisle.render.digests import play_hosts
from coldaisle.spec import SpecError
from components.provider.carried import STATE, Load, bring_home
from components.provider.execution import split, told
from components.provider.run import Job
from components.provider.site import Site

SECRET = "tell-nobody"  # noqa: S105 - the value that must not be found
CASES = Path(__file__).parents[1] / "cases"


def laid_out(folder: Path, *cases: str) -> Path:
    """Lay cases over the base."""
    for case in ("base", *cases):
        shutil.copytree(CASES / case, folder / "site", dirs_exist_ok=True)
    return folder / "site"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> SitePlan:
    """Return the plan of a hall that two machines serve."""
    return open_site(laid_out(tmp_path_factory.mktemp("nodes"), "good/execution_nodes")).plan


def test_the_racks_of_a_hall_take_turns_and_each_node_stands_in(plan: SitePlan) -> None:
    """A rack is never divided; its switches go with it; the provisioner is the runner's own."""
    assert plan.execution is not None
    through = plan.execution.through
    assert {node.rack: through[node.name] for node in plan.nodes} == {"r01": ("east", "west"), "r02": ("west", "east")}
    assert through["leaf01"] == ("east", "west")
    assert "prov01" not in through
    assert not plan.execution.runner_stands_in
    assert [node.key_file for node in plan.execution.nodes] == ["~/.local/state/coldaisle/case/keys/id_ed25519"] * 2


def test_a_node_changes_nothing_that_a_play_holds(plan: SitePlan, tmp_path: Path) -> None:
    """Naming execution nodes runs no play again."""
    without = open_site(laid_out(tmp_path)).plan
    assert without.execution is None
    assert "vars" not in inventory(without)["all"]
    before, after = play_hosts(without), play_hosts(plan)
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == ["pxe"]  # its scripts name the hall's images


def test_a_job_is_split_by_node_and_firmware_is_not(plan: SitePlan, tmp_path: Path) -> None:
    """Each part has the hosts of one order of nodes; what goes through the whole site in one order is the runner's."""
    site = Site("case", inventory(plan), tmp_path)
    hosts = tuple(node.name for node in plan.nodes)
    assert split(Job(site, "os", hosts, "a test")) == {
        ("east", "west"): ("r01-n01", "r01-n02"),
        ("west", "east"): ("r02-n01", "r02-n02"),
    }
    assert split(Job(site, "bmc_firmware", hosts, "a test")) == {(): hosts}
    assert told(site, "os", hosts) == "east (2), west (2)"
    assert told(site, "bmc_firmware", hosts) == "the runner (4)"


def test_two_nodes_of_one_name_are_a_mistake(tmp_path: Path) -> None:
    """A name says which machine was lost."""
    site = laid_out(tmp_path, "good/execution_nodes")
    file = site / "execution.yaml"
    file.write_text(file.read_text().replace("name: west", "name: east"))
    with pytest.raises(SpecError) as caught:
        open_site(site)
    assert [problem.what for problem in caught.value.problems] == ["two execution nodes are named east"]


def test_a_hall_serves_its_racks(plan: SitePlan) -> None:
    """Boot scripts fetch kernel and root from the hall; the seed stays the provisioner's."""
    assert plan.provisioning is not None
    scripts = [file.content or "" for file in pxe_files(plan, plan.provisioning) if file.path.endswith(".ipxe")]
    assert scripts
    for text in scripts:
        assert "http://198.18.1.9/images/debian-12-netboot/vmlinuz" in text
        assert "coldaisle.rootfs=http://198.18.1.9/images/debian-12-netboot/rootfs.squashfs" in text
        assert "coldaisle.seed=http://198.18.1.2:8080/" in text


def test_packages_come_from_the_halls_mirror(tmp_path: Path) -> None:
    """An installer of a rack is told of its hall's mirror, and of the site's where the hall has none."""
    site = laid_out(tmp_path, "good/installed_images")
    before = open_site(site).plan
    assert before.provisioning is not None
    image = next(image for image in before.provisioning.images if image.kind == "preseed" and image.mirror)
    file = site / "provisioning.yaml"
    own = f"  halls:\n    - hall: hall1\n      mirrors: {{{image.name}: http://198.18.1.9/own}}\n"
    file.write_text(f"{file.read_text().rstrip()}\n{own}")
    after = open_site(site).plan
    assert after.provisioning is not None
    texts = [each.content or "" for each in pxe_files(after, after.provisioning) if each.path.endswith("preseed.cfg")]
    assert texts
    assert all("198.18.1.9" in text and "/own" in text for text in texts)


def test_a_run_carries_what_its_inventory_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths of the runner become paths of the node; secrets of the environment travel beside, and never in a file."""
    project, folder, state = (
        tmp_path / "playbooks",
        tmp_path / "state/coldaisle/s/runs/1",
        tmp_path / "state/coldaisle/s",
    )
    project.mkdir()
    folder.mkdir(parents=True)
    (state / "known_hosts").write_text("h1 key\n")
    (tmp_path / "key").write_text("PRIVATE")
    monkeypatch.setenv("BMC_USERNAME", "root")
    monkeypatch.setenv("BMC_PASSWORD", SECRET)
    host = {
        "ansible_ssh_private_key_file": str(tmp_path / "key"),
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={state}/known_hosts",
        "access": {"credentials": "env:BMC", "tokens": [f"file:{tmp_path}/key"], "ca_file": "/nowhere/ca.crt"},
    }
    job = {
        "project": str(project),
        "playbook": str(project / "undo/os.yml"),
        "inventory": {"all": {"hosts": {"h1": host}}},
        "environment": {"ANSIBLE_ROLES_PATH": f"{project}/roles", "ANSIBLE_LOCAL_TEMP": f"{folder}/own"},
        "folder": str(folder),
        "state": str(state),
        "forks": 5,
        "timeout_s": 60,
    }
    go = folder / "go"
    go.mkdir()
    given = Load(job, go, Path("/dev/shm/x/1")).pack()  # noqa: S108 - no file is made there
    there = "/dev/shm/x/1"  # noqa: S108
    assert given["playbook"] == "undo/os.yml"
    assert given["envvars"]["ANSIBLE_ROLES_PATH"] == f"{there}/project/roles"
    assert given["envvars"]["ANSIBLE_LOCAL_TEMP"] == f"{there}/own"
    assert given["envvars"]["BMC_PASSWORD"] == SECRET
    text = (go / "inventory/hosts.json").read_text()
    moved = json.loads(text)["all"]["hosts"]["h1"]
    assert moved["ansible_ssh_private_key_file"] == f"{there}/files/0-key"
    assert moved["ansible_ssh_common_args"] == f"-o UserKnownHostsFile={there}/{STATE}/coldaisle/s/known_hosts"
    assert moved["access"] == {
        "credentials": "env:BMC",
        "tokens": [f"file:{there}/files/0-key"],
        "ca_file": "/nowhere/ca.crt",
    }
    assert str(tmp_path) not in text
    assert (go / "files/0-key").stat().st_mode & 0o777 == 0o600
    assert SECRET not in "".join(each.read_text() for each in go.rglob("*") if each.is_file())


def test_what_a_run_has_learnt_comes_home(tmp_path: Path) -> None:
    """Host keys are added to those that others have added meanwhile; what came back as it went is left alone."""
    state, sent, back = tmp_path / "coldaisle/s", tmp_path / "go", tmp_path / "back"
    for folder, text in ((sent, "h1 a\n"), (back, "h1 a\nh2 b\n")):
        own = folder / STATE / "coldaisle/s"
        (own / "disks").mkdir(parents=True)
        (own / "known_hosts").write_text(text)
        (own / "disks/h1.json").write_text("old")
    (back / STATE / "coldaisle/s/disks/h2.json").write_text("new")
    (back / STATE / "coldaisle/bmc-access").mkdir()
    (back / STATE / "coldaisle/bmc-access/b1.ipmi.json").write_text("{}")
    (state / "disks").mkdir(parents=True)
    (state / "known_hosts").write_text("h1 a\nh3 c\n")
    (state / "disks/h1.json").write_text("newer than what travelled")
    bring_home(back, sent, state)
    assert (state / "known_hosts").read_text() == "h1 a\nh3 c\nh2 b\n"
    assert (state / "disks/h1.json").read_text() == "newer than what travelled"
    assert (state / "disks/h2.json").read_text() == "new"
    assert (state.parent / "bmc-access/b1.ipmi.json").exists()
