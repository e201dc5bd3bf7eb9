"""`coldaisle fabric topology`: a fabric as schedulers and subnet managers want to be told of it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import Site, print_problems, write_output

if TYPE_CHECKING:
    from coldaisle.check import CheckedSite


class Reader(StrEnum):
    """Who is told."""

    SLURM = "slurm"
    KUBERNETES = "kubernetes"
    OPENSM = "opensm"
    UFM = "ufm"


For = Annotated[Reader, typer.Option("--for", help="Who is told.")]
Folder = Annotated[Path, typer.Option("--output", "--out", "-o", metavar="DIR", help="Where files go; it is made.")]
OneFabric = Annotated[
    str | None,
    typer.Option(
        "--fabric",
        metavar="NAME",
        help="This fabric; left out, the one of compute ports, and for opensm and UFM every InfiniBand fabric.",
    ),
]


def topology(site: Site, *, reader: For, output: Folder, fabric: OneFabric = None) -> None:
    """
    Write a fabric for a scheduler or a subnet manager.

    slurm: topology.conf as a tree, and as blocks where NVLink reaches beyond a node. kubernetes: nodes with the labels
    that NVIDIA's Topograph uses, and Kueue's Topology. opensm: node-name-map, roots, compute ports, partitions.conf and
    opensm.conf; a list is written when all of its GUIDs are known, else names stand in its place. ufm: an IBDM .topo
    file to compare with.

    What could not be written is told on standard error. Nothing is written for a site on which the checks find an
    error.

    Exit status: 0 clean, 1 a file cannot be written, 2 the spec or an option cannot be used, 3 something is missing
    that would have been written, 4 a check found an error.

    Example: coldaisle fabric topology gb200-nvl72 --for slurm --output build/slurm
    """
    from coldaisle.check import open_site  # noqa: PLC0415 - keeps the start of other commands light
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    if checked.errors:
        print_problems(checked.errors, err=True)
        raise typer.Exit(ExitCode.CHECK_FAILED)
    notes: list[str] = []
    try:
        files = list(_files(checked, reader, fabric, notes))
    except LookupError as error:
        typer.echo(str(error.args[0]), err=True)
        raise typer.Exit(ExitCode.INVALID) from None
    for name, text in files:
        write_output(output / name, text)
        typer.echo(str(output / name))
    for note in notes:
        typer.echo(note, err=True)
    raise typer.Exit(ExitCode.COULD_NOT_TELL if notes else ExitCode.CLEAN)


def _files(checked: CheckedSite, reader: Reader, fabric: str | None, notes: list[str]) -> Iterator[tuple[str, str]]:
    """
    Yield the files for a reader, and note what is missing from them.

    Raises:
        LookupError: there is no such fabric, or it is none for this reader.
    """
    spec, plan = checked.spec, checked.plan
    if reader in {Reader.SLURM, Reader.KUBERNETES}:
        from coldaisle.render.fabric.domains import compute_fabric  # noqa: PLC0415
        from coldaisle.render.fabric.kubernetes import kubernetes_files  # noqa: PLC0415
        from coldaisle.render.fabric.slurm import slurm_files  # noqa: PLC0415

        write = slurm_files if reader is Reader.SLURM else kubernetes_files
        yield from write(plan, compute_fabric(spec, plan, fabric))
        return
    for name in _subnets(checked, fabric):
        if reader is Reader.UFM:
            from coldaisle.render.fabric.ufm import ufm_files  # noqa: PLC0415

            yield from ufm_files(spec, plan, plan.fabrics[name])
        else:
            from coldaisle.render.fabric.opensm import opensm_files  # noqa: PLC0415

            subnet = opensm_files(plan, plan.fabrics[name])
            notes += subnet.notes
            yield from ((f"{name}/{file}", text) for file, text in subnet.files.items())


def _subnets(checked: CheckedSite, fabric: str | None) -> list[str]:
    """
    Return the InfiniBand fabrics that are asked for.

    Raises:
        LookupError: there is none.
    """
    from coldaisle.render.fabric.listing import fabrics_of  # noqa: PLC0415

    found = [one.name for one in fabrics_of(checked.plan, fabric) if fabric or one.kind == "infiniband"]
    if not found:
        raise LookupError(f"site {checked.plan.name} has no InfiniBand fabric")
    return found
