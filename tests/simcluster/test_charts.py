"""The chart mirror: packages that never change by themselves, with digests that Helm can check."""

from __future__ import annotations

import asyncio
import hashlib
import io
import tarfile
from typing import TYPE_CHECKING

import pytest
import yaml
from aiohttp.test_utils import TestClient, TestServer

from sim.cluster import charts
from sim.cluster.agent import mirror

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def definitions(tmp_path: Path) -> Path:
    """Return a folder with one resource definition, as KEDA's module has them."""
    (tmp_path / "keda.sh_scaledobjects.yaml").write_text("kind: CustomResourceDefinition\n")
    return tmp_path


def test_the_plan_of_the_site_finds_its_charts(definitions: Path) -> None:
    """The mirror has the charts and releases that the simulated site's spec names."""
    found = {chart.metadata["name"]: chart.metadata["version"] for chart in charts.all_charts(definitions)}
    assert found == {"gpu-operator": "v26.7.0", "network-operator": "26.4.1", "keda": "2.21.0"}


def test_packages_are_the_same_each_time(definitions: Path) -> None:
    """Packaging twice gives the same bytes, with no time in them, so a digest in a lock file stays true."""
    first, second = (charts.all_charts(definitions) for _ in range(2))
    assert [chart.archive for chart in first] == [chart.archive for chart in second]
    assert {chart.archive[4:8] for chart in first} == {bytes(4)}


def test_the_index_has_the_digest_of_what_is_served(definitions: Path) -> None:
    """Each entry's digest is the SHA-256 of the file under its URL."""
    packaged = charts.all_charts(definitions)
    served = dict(charts.files(packaged))
    for versions in charts.index(packaged)["entries"].values():
        content = served[f"/{versions[0]['urls'][0]}"]
        assert versions[0]["digest"] == hashlib.sha256(content).hexdigest()


def test_keda_comes_with_its_own_definitions(definitions: Path) -> None:
    """KEDA's chart carries the resource definitions of the module that it was built from."""
    keda = next(chart for chart in charts.all_charts(definitions) if chart.metadata["name"] == "keda")
    assert "keda/crds/keda.sh_scaledobjects.yaml" in _members(keda)


def test_keda_is_left_out_without_definitions() -> None:
    """A chart of KEDA that could not work is not offered."""
    assert "keda" not in {chart.metadata["name"] for chart in charts.all_charts(None)}


def test_a_chart_that_is_complete_later_is_served_later(definitions: Path) -> None:
    """KEDA is built when the mirror has long been up: its chart is there from then on."""
    found: list[Path | None] = [None]

    async def ask() -> tuple[int, int]:
        application = mirror(lambda: charts.all_charts(found[0]), list)
        async with TestClient(TestServer(application)) as client:
            before = (await client.get("/keda-2.21.0.tgz")).status
            found[0] = definitions
            return before, (await client.get("/keda-2.21.0.tgz")).status

    assert asyncio.run(ask()) == (404, 200)


def test_plain_files_of_charts_are_yaml() -> None:
    """Everything in a chart that is no template parses as YAML."""
    for path in charts.CHARTS.rglob("*.yaml"):
        if path.parent.name != "templates":
            assert list(yaml.safe_load_all(path.read_text()))


def _members(chart: charts.Chart) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(chart.archive)) as archive:
        return archive.getnames()
