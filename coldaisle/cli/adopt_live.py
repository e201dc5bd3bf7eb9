"""The sources of `coldaisle adopt --live`: their file, their secrets, and the asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
import yaml

from coldaisle.adopt.facts import Source
from coldaisle.adopt.live import AskError, Live, Taken
from coldaisle.adopt.live.bmcs import RedfishLive
from coldaisle.adopt.live.cluster import ClusterLive
from coldaisle.adopt.live.netbox import NetBoxLive
from coldaisle.adopt.live.sources import RedfishSource, Sources, SshSource, parse
from coldaisle.adopt.live.ssh import SshLive
from coldaisle.cli.adopt_sources import UNTOLD_FILE, untold_text
from coldaisle.cli.collection import use_collection
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import print_problems, write_output
from coldaisle.cli.progress import progress
from coldaisle.discovery import SourceError, from_range

use_collection()
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError  # noqa: E402 - needs that path
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_whole import read_whole  # noqa: E402
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError  # noqa: E402
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_credentials, read_secret  # noqa: E402

if TYPE_CHECKING:
    from coldaisle.cli.adopt_sources import Told


def ask_all(file: Path, told: Told, keep: Path | None) -> None:
    """
    Ask every source of a file, and add what they tell.

    Raises:
        typer.Exit: the file, a secret or an address cannot be used, or a source as a whole does not answer.
    """
    sources = _sources(file)
    taken = [_taken(live) for live in _made(sources)]
    for source in sorted({source for each in taken for source in each.files}):
        files = _named(source, taken)
        untold = [one for each in taken for one in each.untold if one.source == source]
        if untold:
            files[UNTOLD_FILE] = untold_text(untold).encode()
        if keep is not None:
            for name, data in files.items():
                write_output(keep / source / name, data.decode())
        told.add(source, files)


def _named(source: Source, taken: Sequence[Taken]) -> dict[str, bytes]:
    """Return the files of a source; those of a second one of its kind are in a folder of their own."""
    files: dict[str, bytes] = {}
    for number, each in enumerate(taken):
        for name, text in each.files.get(source, {}).items():
            files[name if name not in files else f"{number}/{name}"] = text.encode()
    return files


def _sources(file: Path) -> Sources:
    try:
        value = yaml.safe_load(file.expanduser().read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        _refuse([f"--live {file}: {error}"])
    sources, problems = parse(value, str(file))
    print_problems(problems, err=True)
    if problems:
        raise typer.Exit(ExitCode.INVALID)
    return sources


def _made(sources: Sources) -> list[Live]:
    """Return every source, ready to be asked; all that is wrong with secrets and addresses is told at once."""
    made: list[Live] = []
    problems: list[str] = []
    for one in (*sources.redfish, *sources.ssh, *sources.kubernetes, *sources.netbox):
        try:
            made.append(_live(one))
        except (FactError, SourceError, AskError) as error:
            problems.append(str(error))
    if problems:
        _refuse(problems)
    return made


def _live(one: Any) -> Live:  # noqa: ANN401 - one of the four kinds of sources
    if isinstance(one, RedfishSource):
        return _redfish(one)
    if isinstance(one, SshSource):
        return SshLive(one, _addresses(one.hosts), _addresses(one.switches))
    if hasattr(one, "kubeconfig"):
        from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster  # noqa: PLC0415 - lightkube

        return ClusterLive(one.kubeconfig, Cluster(one.kubeconfig).client)
    return NetBoxLive(one, read_secret(one.token))


def _redfish(one: RedfishSource) -> RedfishLive:
    read_credentials(one.credentials)  # said once, and not once a BMC
    params = {"protocol": "redfish", "credentials": one.credentials, "timeout_s": one.timeout_s,
              "ca_file": str(Path(one.ca_file).expanduser()) if one.ca_file else None}  # fmt: skip

    def read(address: str) -> Mapping[str, Any] | str:
        try:
            found: Mapping[str, Any] = read_whole({"address": address, **params})
        except (BmcError, FactError) as error:
            return str(error)
        return found

    return RedfishLive(_addresses(one.addresses), read, one.at_once)


def _addresses(ranges: Sequence[str]) -> tuple[str, ...]:
    """Return single addresses, each once; SourceError where one is none."""
    return tuple(dict.fromkeys(found.address for each in ranges for found in from_range(each)))


def _taken(live: Live) -> Taken:
    typer.echo(f"asking {live.name}", err=True)
    try:
        with progress(live.name) as say:
            return live.take(say)
    except AskError as error:
        _refuse([str(error)])


def _refuse(problems: Sequence[str]) -> NoReturn:
    for problem in problems:
        typer.echo(problem, err=True)
    raise typer.Exit(ExitCode.INVALID)
