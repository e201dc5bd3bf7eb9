"""A run of acceptance: the playbook, what it kept, the judgement, and the evidence of every node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from coldaisle.acceptance import NodeOutcome, Output, Phase, Result, Step, body_of, failures_in_a_row, judge, outcomes
from coldaisle.acceptance.body import AFTER_STEP
from coldaisle.acceptance.parsers import PARSERS, Parser
from coldaisle.acceptance.records import CannotTellError, Fault, Reading, Reason, Where
from coldaisle.acceptance.wire import read_outputs, role_variables
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.playbook import environment
from coldaisle.evidence import EvidenceError, Statement, Store, open_store
from coldaisle.plan import plan_hash
from coldaisle.plan.model import SitePlan
from coldaisle.render.ansible import playbooks_dir
from coldaisle.spec import site_folder
from coldaisle.spec.sections import SiteSpec
from coldaisle.verify import UnknownFormatError
from coldaisle.verify import read as read_neighbours

KIND = "acceptance"
FORKS = 64
TOUCH_VARIABLE = "COLDAISLE_TOUCH"
"""Nodes that the inventory may give to a playbook in any state: what was mended is tested before it is in service."""
LAST_LINES = 15
SSH_ARGS = "-o ControlMaster=auto -o ControlPersist=15s -o ServerAliveInterval=5 -o ServerAliveCountMax=6"
"""One connection a host for the tasks of a run; it ends soon after the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a run found. `evidence` are the files; `problems` say what was not written, and who did not answer."""

    site: str
    plan: str
    phase: Phase
    who: str
    when: datetime
    results: tuple[Result, ...]
    outcomes: tuple[NodeOutcome, ...]
    evidence: tuple[Path, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """
    One run of acceptance on a site, by whom and when.

    `strict` takes a figure without a limit for no pass. `steps` are the numbers of the nodes' last steps in the site's
    journal: evidence names the one that it comes after, since times are those of a clock that may be set.
    """

    site: str
    plan: SitePlan
    store: Store
    phase: Phase
    who: str
    when: datetime
    strict: bool = False
    steps: Mapping[str, int] = field(default_factory=dict)

    def carry_out(self, steps: Sequence[Step]) -> Done:
        """Run the steps on the hosts, judge what they printed, and keep a signed statement of each node."""
        with tempfile.TemporaryDirectory(prefix="coldaisle-accept-") as folder:
            problems = run_playbook(self.site, steps, Path(folder))
            outputs = kept(Path(folder))
        return self.judged(steps, outputs, problems)

    def judged(self, steps: Sequence[Step], outputs: Mapping[str, Output], problems: Sequence[str] = ()) -> Done:
        """Judge outputs, and keep the evidence."""
        like = {node.name: node.system for node in self.plan.nodes}
        results = judge(steps, outputs, like, parsers())
        results = tuple(_strictly(result) for result in results) if self.strict else results
        before = self._before()
        found = outcomes(results, {node: failures_in_a_row(bodies) for node, bodies in before.items()})
        files, unkept = self._keep(found, results, {node: _run_of(bodies[-1]) for node, bodies in before.items()})
        return Done(
            site=self.plan.name,
            plan=plan_hash(self.plan),
            phase=self.phase,
            who=self.who,
            when=self.when,
            results=results,
            outcomes=found,
            evidence=files,
            problems=(*problems, *unkept),
        )

    def _before(self) -> dict[str, list[Mapping[str, Any]]]:
        """
        Return the evidence of each node, the oldest first; what cannot be believed is left out.

        Its order is that of the runs: a clock that was set back would put the newest before the others.
        """
        bodies: dict[str, list[Mapping[str, Any]]] = {}
        for one in self.store.read():
            if one.statement is not None and one.statement.kind == KIND:
                bodies.setdefault(one.statement.subjects[0], []).append(one.statement.body)
        return {node: sorted(found, key=_run_of) for node, found in bodies.items()}

    def _keep(
        self, found: Sequence[NodeOutcome], results: Sequence[Result], runs: Mapping[str, int]
    ) -> tuple[tuple[Path, ...], list[str]]:
        """Keep the evidence of every node; one that cannot be kept does not keep the others from it."""
        files, problems, digest = [], [], plan_hash(self.plan)
        for outcome in found:
            statement = Statement(
                kind=KIND,
                subjects=(outcome.node,),
                plan_hash=digest,
                who=self.who,
                when=self.when,
                body=body_of(outcome, results, self.phase)
                | {"run": runs.get(outcome.node, 0) + 1, AFTER_STEP: self.steps.get(outcome.node, 0)},
            )
            try:
                files.append(self.store.keep(statement))
            except EvidenceError as error:
                problems.append(str(error))
        return tuple(files), problems


def _run_of(body: Mapping[str, Any]) -> int:
    """Return which run of its node a body is of, counted from 1; releases before counted none."""
    return int(body.get("run", 0))


def _strictly(result: Result) -> Result:
    return replace(result, status="could-not-tell") if result.status == "measured" else result


def parsers() -> Mapping[str, Parser]:
    """Return every parser, the neighbours' one among them: it reads what `coldaisle verify cabling` reads."""
    return {**PARSERS, "neighbours": neighbours}


def neighbours(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read `lldpctl -f json`: a port whose neighbour is not the planned one has a wrong cable."""
    try:
        answer = read_neighbours(text.encode(), "lldpctl")
    except UnknownFormatError as error:
        raise CannotTellError(str(error)) from None
    if not answer.whole:
        raise CannotTellError("; ".join(answer.notes))
    seen = {port: one.remote for one in answer.neighbours for port in one.local.ports}
    faults = []
    for port, (device, far) in expects.get("cables", {}).items():
        told = seen.get(port)
        if told is None:
            faults.append(Fault(f"nobody is heard behind {port}", Where("cable", port)))
        elif told.name != device or far not in told.ports:
            what = f"{port} ends at {told.label}:{told.port_label}, and not at {device}:{far}"
            faults.append(Fault(what, Where("cable", port)))
    return Reading(faults=tuple(faults))


def opened_store(spec: SiteSpec) -> Store:
    """Return the site's store, ready to sign, before anything runs: an unsigned result is not worth a day."""
    try:
        return open_store(spec)
    except EvidenceError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(ExitCode.INVALID) from None


def run_playbook(site: str, steps: Sequence[Step], folder: Path) -> list[str]:
    """Run the playbook on the steps' hosts; its failures are told, and what the hosts did say is in the folder."""
    variables, limit = folder / "variables.json", folder / "hosts"
    (folder / "kept").mkdir()
    variables.write_text(json.dumps(role_variables(steps, str(folder / "kept"))), encoding="utf-8")
    limit.write_text("".join(f"{host}\n" for host in dict.fromkeys(host for step in steps for host in step.hosts)))
    own = os.environ.get("COLDAISLE_INVENTORY") or str(site_folder(site))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", own, "--limit", f"@{limit}"]
    command += ["--forks", str(FORKS), "-e", f"@{variables}", str(playbooks_dir() / "accept.yml")]
    settings = environment(folder / "ssh") | {
        TOUCH_VARIABLE: ",".join(sorted({host for step in steps for host in step.hosts})),
        "ANSIBLE_SSH_ARGS": SSH_ARGS,
        "ANSIBLE_INVENTORY_ENABLED": "coldaisle.site.plan,yaml",
    }
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    return ["\n".join((done.stdout + done.stderr).strip().splitlines()[-LAST_LINES:])]


def kept(folder: Path) -> dict[str, Output]:
    """Return what the hosts said, from the files that the playbook left."""

    def lines() -> Iterator[str]:
        for path in sorted((folder / "kept").glob("*.jsonl")):
            yield from path.read_text(encoding="utf-8").splitlines()

    return read_outputs(lines())


def unexplained(done: Done) -> tuple[Reason, ...]:
    """Return what went wrong beside the nodes, as reasons."""
    return tuple(Reason(what=problem) for problem in done.problems)
