"""`coldaisle node`: what each command says, writes down and returns, with BMCs that say what a test wants."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from coldaisle.check import open_site
from coldaisle.cli.app import build_app
from coldaisle.cli.node_bmc import BmcRefusedError
from coldaisle.cli.node_options import complete_node
from coldaisle.cli.node_steps import Opened, Person, in_hand, opened
from coldaisle.life.journal import LifeError
from coldaisle.locks import FOLDER, InUseError, lock_all, of_pool
from coldaisle.plan import plan_hash
from coldaisle.plan.model import NodePlan
from coldaisle.spec.journal import Step
from coldaisle.words import JOURNAL_FILE
from tests.unit.life.sites import ALICE, move

NODE = "r01-n01"
OFF = {"power_policy": "always-off", "boot_order": "disk", "power": "off"}


class Machine:
    """Stands in for a node's BMC, its host and their playbooks."""

    def __init__(self) -> None:
        """Be as delivered, obedient, and without a disk."""
        self.parts: dict[str, list[dict[str, Any]]] = {}
        self.gaps: dict[str, str] = {}
        self.refuses = ""
        self.played: list[str] = []
        self.disks: list[dict[str, Any]] = []
        self.fails: dict[str, str] = {}
        self.drained_with: dict[str, Any] = {}

    def in_cluster(self, known: Opened, do: Callable[..., bool]) -> bool:
        """Do something to the node at its cluster."""
        assert known.plan.cluster
        self.played.append(do.__name__)
        return True

    def parts_of_node(self, _node: NodePlan) -> tuple[dict[str, list[dict[str, Any]]], dict[str, str]]:
        """Show the parts."""
        return self.parts, self.gaps

    def turn_off(self, node: NodePlan, _why: str) -> dict[str, str]:
        """Turn off, or refuse."""
        if self.refuses:
            raise BmcRefusedError(f"BMC of {node.name}: {self.refuses}")
        self.played.append("off")
        return OFF

    def play(self, _known: object, name: str, variables: dict[str, Any]) -> list[dict[str, Any]]:
        """Run a playbook."""
        self.played.append(name)
        if name in self.fails:
            raise LifeError(f"playbook {name}: {self.fails[name]}")
        if name == "drain":
            self.drained_with = variables
            return [{"msg": ""}, {"evicted": ["jobs/train-0"]}]
        if name == "wipe" and not self.disks:
            raise LifeError(f"playbook wipe: unreachable {sorted(variables)}")
        return [{"disks": self.disks}] if name == "wipe" else []


@pytest.fixture
def machine(site: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return the machine that all commands meet: NODE as the base site's delivery list has it."""
    made = Machine()
    hardware = open_site(site).spec.hardware[NODE]
    made.parts = {
        "gpus": [{"Id": f"G{at}"} for at in range(8)],
        "ports": [{"mac": mac} for mac in hardware.macs.values()],
    }
    monkeypatch.setattr("coldaisle.cli.node_hardware.parts_of_node", made.parts_of_node)
    monkeypatch.setattr("coldaisle.cli.node_retire.turn_off_for_good", made.turn_off)
    monkeypatch.setattr("coldaisle.cli.node_retire.run_playbook", made.play)
    monkeypatch.setattr("coldaisle.cli.node_workload.run_playbook", made.play)
    monkeypatch.setattr("coldaisle.cli.node_workload.in_cluster", made.in_cluster)
    monkeypatch.setenv("COLDAISLE_WHO", ALICE)
    return made


def node(verb: str, *options: str, name: str = NODE) -> Result:
    """Call a command."""
    return CliRunner().invoke(build_app("node"), ["node", verb, "case", name, *options])


def steps(site: Path) -> list[Step]:
    """Return the steps of NODE."""
    return list(open_site(site).spec.journal.of(NODE))


@pytest.mark.usefixtures("machine")
def test_a_new_node_goes_from_enrolment_into_service(site: Path) -> None:
    """Each command takes its steps, and each step has who, why, and the hash of the plan that it was taken under."""
    before = plan_hash(open_site(site).plan)
    assert node("enroll", "--why", "pallet 7").exit_code == 0
    assert node("inspect").exit_code == 0
    assert node("accept", "--why", "burn-in passed").exit_code == 0
    found = steps(site)
    assert [step.state for step in found] == ["enroll", "inspect", "verify", "provision", "accept", "in-service"]
    assert {step.who for step in found} == {ALICE}
    assert found[0].plan == before
    assert len({step.plan for step in found}) == 3, "the plan of each command's beginning"
    assert found[2].details["could_not_tell"] == {"cables": "nobody gave files of neighbours (--seen)"}


def test_differences_keep_a_node_where_it_is(site: Path, machine: Machine) -> None:
    """A new one stays in inspect, a mended one in accept; both say what differs, and it stays in the journal."""
    machine.parts["gpus"].pop()
    node("enroll", "--why", "pallet 7")
    done = node("inspect", "--json")
    assert done.exit_code == 5
    assert [each["part"] for each in json.loads(done.stdout)["differences"]] == ["gpus"]
    assert steps(site)[-1].state == "inspect"
    assert "7 GPUs are there" in str(steps(site)[-1].details["differences"])
    assert node("accept", "--why", "now").exit_code == 2
    move(site, NODE, "repair")
    assert node("accept", "--why", "now").exit_code == 4
    assert steps(site)[-1].state == "accept"


def test_what_a_bmc_does_not_tell_is_its_own_exit_code(site: Path, machine: Machine) -> None:
    """3, and the node stays; with --accept-unknown it goes on, and the journal says what nobody has seen."""
    machine.parts, machine.gaps = {}, {"ports": "the BMC lists none", "gpus": "the BMC lists none"}
    node("enroll", "--why", "pallet 7")
    assert node("inspect").exit_code == 3
    assert steps(site)[-1].state == "inspect"
    assert node("inspect", "--accept-unknown").exit_code == 0
    assert steps(site)[-1].details["could_not_tell"]["gpus"] == "the BMC lists none"


@pytest.mark.usefixtures("machine")
def test_evidence_is_named_by_its_digest(site: Path, tmp_path: Path) -> None:
    """What acceptance kept is found again by its SHA-256; a file that is not there is wrong usage, and no step."""
    (tmp_path / "result.json").write_text("{}")
    move(site, NODE, "repair")
    assert node("accept", "--why", "x", "--evidence", "nowhere.json").exit_code == 2
    assert [step.state for step in steps(site)] == ["repair"]
    assert node("accept", "--why", "x", "--evidence", str(tmp_path / "result.json")).exit_code == 0
    digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert steps(site)[-1].details["evidence"] == {"file": "result.json", "sha256": digest}


@pytest.mark.parametrize("held", ["pool-guests", NODE])
@pytest.mark.parametrize("verb", ["maintain", "repair", "retire"])
def test_a_node_that_a_run_changes_is_taken_out_by_nobody(
    site: Path, state: Path, machine: Machine, verb: str, held: str
) -> None:
    """While its pool is changed in waves, or a play works on it, no step is taken; by whom and since when is said."""
    options = ["--keep-disks", "none"] if verb == "retire" else []
    [lock] = lock_all(state / "case" / FOLDER, [held], "the play gpu-train")
    done = node(verb, "--why", "filters", *options)
    lock.close()
    assert done.exit_code == 6
    assert f"{NODE} stays as it is: {held} is being changed by the play gpu-train, process {os.getpid()}, since 20" in (
        done.stderr
    )
    assert (steps(site), machine.played) == ([], [])
    assert node(verb, "--why", "filters", *options).exit_code == 0


@pytest.mark.usefixtures("machine")
def test_no_run_begins_on_a_node_while_it_is_taken_out(site: Path, state: Path) -> None:
    """A retirement keeps its node from every run until it is over, and lets the waves of its pool go on."""
    known = opened("case", NODE)
    with in_hand(known, Person(ALICE, "lease ends")):
        with pytest.raises(InUseError, match=rf"{NODE} is being changed by {ALICE} \(lease ends\), process"):
            lock_all(state / "case" / FOLDER, [NODE], "the play gpu-train")
        lock_all(state / "case" / FOLDER, [of_pool(known.node.pool)], "the play gpu-train")[0].close()
    lock_all(state / "case" / FOLDER, [NODE], "the play gpu-train")[0].close()
    assert steps(site) == []


@pytest.mark.usefixtures("machine")
def test_maintenance_begins_and_ends_with_the_same_person(site: Path) -> None:
    """Somebody else's return is refused with who holds the node and why; with --take-over it is taken."""
    assert node("maintain", "--why", "filters").exit_code == 0
    done = node("return", "--why", "hurry", "--who", "bob@deploy")
    assert done.exit_code == 6
    assert f"{ALICE} (filters)" in done.stderr
    assert node("return", "--why", "hurry", "--who", "bob@deploy", "--take-over").exit_code == 0
    assert [step.state for step in steps(site)] == ["maintenance", "maintenance", "in-service"]
    assert node("return", "--why", "again").exit_code == 2


def test_a_node_that_is_taken_out_is_drained_and_one_that_returns_is_uncordoned(site: Path, machine: Machine) -> None:
    """The journal says what had to leave; who may not return a node does not uncordon it either."""
    assert node("maintain", "--why", "filters", "--drain-timeout", "60").exit_code == 0
    assert machine.drained_with == {"drain_why": "filters", "drain_timeout_s": 60}
    assert steps(site)[-1].details == {"drain": {"evicted": ["jobs/train-0"]}}
    assert node("return", "--why", "hurry", "--who", "bob@deploy").exit_code == 6
    assert machine.played == ["drain"]
    machine.fails = {"uncordon": "it is not ready after 900 s"}
    done = node("return", "--why", "done")
    assert (done.exit_code, steps(site)[-1].state) == (3, "maintenance")
    assert "it is not ready after 900 s" in done.stderr
    machine.fails = {}
    assert node("return", "--why", "done").exit_code == 0
    assert machine.played == ["drain", "uncordon", "uncordon"]


def test_pods_that_stay_are_told_and_the_node_stays_out(site: Path, machine: Machine) -> None:
    """A budget that does not yield: exit status 3, the node is out already, and the command may be run again."""
    machine.fails = {"drain": "2 pods are left after 900 s: jobs/train-0: disruption budget"}
    done = node("repair", "--why", "GPU missing")
    assert (done.exit_code, [step.state for step in steps(site)]) == (3, ["repair"])
    assert "2 pods are left" in done.stderr
    assert "not drained" in done.stderr
    assert node("repair", "--why", "GPU missing", "--no-drain").exit_code == 0
    machine.fails = {}
    assert node("repair", "--why", "GPU missing").exit_code == 0
    assert machine.played == ["drain", "drain"]


def test_a_mended_node_is_uncordoned_when_it_is_accepted_and_not_before(site: Path, machine: Machine) -> None:
    """What differs keeps it in accept, cordoned."""
    move(site, NODE, "repair")
    lost = machine.parts["gpus"].pop()
    assert node("accept", "--why", "now").exit_code == 4
    assert machine.played == []
    machine.parts["gpus"].append(lost)
    machine.fails = {"uncordon": "it is not ready"}
    assert (node("accept", "--why", "now").exit_code, steps(site)[-1].state) == (3, "accept")
    machine.fails = {}
    assert node("accept", "--why", "now").exit_code == 0
    assert steps(site)[-1].state == "in-service"


@pytest.mark.usefixtures("machine")
def test_list_show_and_history(site: Path) -> None:
    """People and programs see the same; a clock that went back is marked."""
    node("maintain", "--why", "filters")
    lines = (site / JOURNAL_FILE).read_text()
    (site / JOURNAL_FILE).write_text(lines.replace('"when":"20', '"when":"21'))
    node("return", "--why", "done")
    shown = CliRunner().invoke(build_app("node"), ["node", "list", "case", "--json"])
    assert [each["state"] for each in json.loads(shown.stdout)["nodes"]] == ["in-service", None, None, None]
    assert json.loads(node("show", "--json").stdout)["next"] == ["maintenance", "repair"]
    assert "from there: maintenance, repair" in node("show").stdout
    assert "clock" in node("history").stdout
    whys = [each["why"] for each in json.loads(node("history", "--json").stdout)["steps"]]
    assert whys == ["filters", "filters", "done"]
    assert "filters" not in CliRunner().invoke(build_app("node"), ["node", "list", "case"]).stdout


@pytest.mark.usefixtures("machine")
def test_a_node_that_is_not_there_is_told_with_its_neighbours() -> None:
    """A slip of the pen ends with 2, and with what may have been meant."""
    done = node("show", name="r01-n1")
    assert done.exit_code == 2
    assert "there is no node r01-n1 in the plan of case" in done.stderr


def test_names_complete(site: Path) -> None:
    """A shell completes the nodes of the site that stands before them."""

    class Line:
        """What typer knows of the line."""

        params = {"site": str(site)}  # noqa: RUF012 - as typer has it

    assert complete_node(Line(), "r01") == ["r01-n01", "r01-n02"]  # type: ignore[arg-type]


def test_retirement_drains_wipes_turns_off_and_keeps_a_certificate(site: Path, machine: Machine) -> None:
    """In this order; the certificate has each disk's method and that it was read back."""
    machine.disks = [{"serial": "S1", "path": "/dev/sda", "state": "wiped", "method": "overwrite", "verified": True}]
    assert node("retire", "--wipe", "S1", "--why", "lease ends").exit_code == 0
    assert machine.played == ["drain", "wipe", "off", "remove_node"]
    last = steps(site)[-1]
    assert (last.state, last.details["read_back"]) == ("retired", OFF)
    body = last.details["wipe"]
    assert body["disks"] == [{"serial": "S1", "path": "/dev/sda", "method": "overwrite", "verified": True}]
    assert "read back" in body["methods"]["overwrite"]
    assert last.details["gone"]["macs.mgmt0"] == "52:54:00:01:01:01"
    assert open_site(site).findings == ()


@pytest.mark.parametrize(
    "disks",
    [
        [],
        [{"serial": "S1", "path": "/dev/sda", "state": "wiped", "method": "overwrite", "verified": False}],
        [{"serial": "S2", "path": "/dev/sdb", "state": "wiped", "method": "overwrite", "verified": True}],
    ],
    ids=["unreachable", "not read back", "another disk"],
)
def test_without_a_certificate_nobody_is_retired(site: Path, machine: Machine, disks: list[dict[str, Any]]) -> None:
    """A host that is silent, a disk that was not read back or not told: the node stays in maintenance, and on."""
    machine.disks = disks
    done = node("retire", "--wipe", "S1", "--why", "lease ends")
    assert done.exit_code == 3
    assert "is not retired" in done.stderr
    assert steps(site)[-1].state == "maintenance"
    assert "off" not in machine.played


def test_a_retirement_that_was_stopped_goes_on_where_it_was(site: Path, machine: Machine) -> None:
    """The BMC refuses after the wipe: the next try wipes nothing again, and uses the certificate that is there."""
    machine.disks = [{"serial": "S1", "path": "/dev/sda", "state": "wiped", "method": "overwrite", "verified": True}]
    machine.refuses = "power is on"
    done = node("retire", "--wipe", "S1", "--why", "lease ends")
    assert done.exit_code == 3
    assert "power is on" in done.stderr
    machine.refuses, machine.played = "", []
    assert node("retire", "--wipe", "S1", "--why", "lease ends").exit_code == 0
    assert machine.played == ["drain", "off", "remove_node"]
    assert steps(site)[-1].details["wipe"]["disks"][0]["serial"] == "S1"


def test_a_retired_node_comes_back_by_enrolment(site: Path, machine: Machine) -> None:
    """Nothing else brings it back; then its parts are its own again, and it begins at the beginning."""
    assert node("retire", "--absent", "sold", "--why", "lease ends").exit_code == 0
    assert machine.played == ["remove_node"]
    for verb in ("maintain", "repair", "accept", "return"):
        assert node(verb, "--why", "x").exit_code == 2
    assert node("enroll", "--why", "bought back").exit_code == 0
    assert machine.played == ["remove_node", "readmit_node"]
    found = open_site(site)
    assert found.errors == ()
    assert found.spec.journal.gone == {}
    assert found.plan.retired == ()


def test_what_becomes_of_the_disks_has_to_be_said(site: Path, machine: Machine) -> None:
    """Neither silence nor two answers retire a node."""
    for options in ((), ("--wipe", "S1", "--keep-disks", "none")):
        assert node("retire", *options, "--why", "lease ends").exit_code == 2
    assert (steps(site), machine.played) == ([], [])
