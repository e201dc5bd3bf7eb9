"""Files that a role has written and that the plan has no more: they go, unless they are somebody else's now."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import record_facts, run_files, services

OWNER = pwd.getpwuid(os.getuid()).pw_name


class Role:
    """Writes sets of files into a folder, and notes who was told of what."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder."""
        self.folder, self.told = folder, list[str]()

    def write(self, digest: str, *names: str, check: bool = False) -> dict[str, Any]:
        """Write the files of a plan; each has its own name as its text, and networkd reads it."""
        common = {"mode": "0644", "owner": OWNER, "reload": ["networkd"]}
        files = [{"path": str(self.folder / name), "content": name, **common} for name in names]
        return run_files.run({"files": files, "record": {"name": "os", "digest": digest}}, check=check)

    def there(self) -> list[str]:
        """Return the names of the files that there are."""
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Role:
    """Return a role whose records and files lie in folders of the test."""
    found = Role(tmp_path / "network")
    monkeypatch.setattr(record_facts, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(run_files, "tell", found.told.extend)
    found.folder.mkdir()
    return found


def test_the_files_of_a_port_that_left_the_plan_go(role: Role) -> None:
    """They are named, who reads them is told, and the run after it has nothing to do; check mode removes none."""
    role.write("one", "rail0.network", "rail1.network")
    would = role.write("two", "rail0.network", check=True)
    assert role.there() == ["rail0.network", "rail1.network"]
    role.told.clear()
    done = role.write("two", "rail0.network")
    assert would["paths"] == done["paths"] == [str(role.folder / "rail1.network")]
    assert done["diff"][0]["before"] == "rail1.network"
    assert (role.there(), role.told) == (["rail0.network"], ["networkd"])
    assert not role.write("two", "rail0.network")["changed"]


def test_a_file_that_somebody_has_changed_stays(role: Role) -> None:
    """What is not as the role wrote it is not the role's to take away; neither is what it never wrote."""
    role.write("one", "rail0.network", "rail1.network")
    (role.folder / "rail1.network").write_text("by hand")
    (role.folder / "other.network").write_text("from elsewhere")
    assert role.write("two", "rail0.network")["paths"] == []
    assert role.there() == ["other.network", "rail0.network", "rail1.network"]


def test_a_run_that_was_killed_before_it_removed_is_finished_by_the_next(
    role: Role, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is written last, so that what was to go is still known."""
    role.write("one", "rail0.network", "rail1.network")
    with monkeypatch.context() as killed:
        killed.setattr(run_files, "_remove", _dies)
        with pytest.raises(KeyboardInterrupt):
            role.write("two", "rail0.network")
    assert role.write("two", "rail0.network")["paths"] == [str(role.folder / "rail1.network")]
    assert role.there() == ["rail0.network"]


def _dies(_path: Path) -> None:
    raise KeyboardInterrupt


class PlayedSystemd:
    """Answers systemctl: one unit runs, and the named ones have another text on the disk than systemd knows."""

    def __init__(self, *outdated: str) -> None:
        """Keep which units are outdated."""
        self.outdated, self.said = outdated, list[str]()

    def run(self, *argv: str, timeout_s: float = 20) -> str:
        """Answer what is asked, and note what is ordered."""
        del timeout_s
        if argv[:2] != ("systemctl", "show"):
            self.said.append(" ".join(argv))
            return ""
        if "NeedDaemonReload" in argv[2]:
            return "yes" if argv[-1] in self.outdated else "no"
        return "active" if argv[-1] == "kubelet" else "inactive"


READERS = ["containerd", "enabled:a.service", "enabled:b.service", "kubelet", "udev"]


@pytest.mark.parametrize(
    ("readers", "outdated", "reloads"),
    [
        (READERS, "", 0),
        (READERS, "b.service", 1),
        ([*READERS, "systemd"], "", 1),
        ([*READERS, "systemd"], "a.service", 1),
    ],
)
def test_systemd_reads_its_units_once_or_not_at_all(
    readers: list[str], outdated: str, reloads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units are turned on together and first; all are read anew once, where systemd knows an older text of one."""
    systemd = PlayedSystemd(outdated)
    monkeypatch.setattr(services, "run", systemd.run)
    services.tell(readers)
    assert systemd.said == [
        "systemctl --no-reload enable a.service b.service",
        *["systemctl daemon-reload"] * reloads,
        "systemctl restart kubelet",
    ]
