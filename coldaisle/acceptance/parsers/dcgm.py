"""
`dcgmi diag -r LEVEL -j`.

Source of the form: NVIDIA DCGM documentation, dcgmi diag and Diagnostic Errors (categories and severities), and DCGM's
own tests of the JSON: `DCGM Diagnostic` (4.x) or `DCGM GPU Diagnostic` (3.x), test_categories, tests, results with
entity_group and entity_id (4.x) or gpu_id (3.x), status, warnings. NVIDIA publishes no schema: what is not known is not
judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coldaisle.acceptance.parsers.shared import json_object, missing_gpus
from coldaisle.acceptance.records import CannotTellError, Fault, Reading, Where

_ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
_GOOD = frozenset({"pass", "skip", "not run"})
_BAD = frozenset({"fail", "warn"})


def dcgm_diag(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read a diagnostic: each test that failed or warned is a fault of the GPU that it names."""
    data = json_object(text, "dcgmi diag")
    root = next((data[name] for name in _ROOTS if isinstance(data.get(name), dict)), None)
    if root is None:
        raise CannotTellError("dcgmi diag printed JSON without its diagnostic")
    if root.get("runtime_error"):
        raise CannotTellError(f"dcgmi diag did not run: {root['runtime_error']}")
    results = list(_results(root))
    gpus = {where for _, where, _ in results if where is not None}
    if not any(status == "pass" for _, _, result in results for status in [_status(result)]):
        raise CannotTellError("no test of dcgmi diag ran")
    faults = [Fault(f"{name}: {_said(result)}", where) for name, where, result in results if _status(result) in _BAD]
    indexes = {int(where.name) for where in gpus}
    return Reading(faults=(*faults, *(missing_gpus(indexes, expects, "dcgmi diag") if indexes else ())))


def _results(root: Mapping[str, Any]) -> Iterator[tuple[str, Where | None, Mapping[str, Any]]]:
    """Yield each result with its test's name and its GPU, where it names one."""
    try:
        for category in root["test_categories"]:
            for test in category["tests"]:
                for result in test["results"]:
                    yield str(test["name"]), _where(result), result
    except (KeyError, TypeError) as error:
        raise CannotTellError(f"dcgmi diag printed JSON of a form that is not known: {error!r}") from None


def _where(result: Mapping[str, Any]) -> Where | None:
    if result.get("entity_group") == "GPU":
        return Where("gpu", str(int(result["entity_id"])))
    index = str(result.get("gpu_id", result.get("gpu_ids", "")))
    return Where("gpu", index) if index.isdigit() else None


def _status(result: Mapping[str, Any]) -> str:
    status = str(result.get("status", "")).lower()
    if status not in _GOOD | _BAD:
        raise CannotTellError(f"a result of dcgmi diag has the status {result.get('status')!r}")
    return status


def _said(result: Mapping[str, Any]) -> str:
    """Return what a bad result says, with the number of its error where it has one."""
    warnings = result.get("warnings") or result.get("warning") or []
    parts = []
    for each in warnings if isinstance(warnings, list) else [warnings]:
        known = each if isinstance(each, dict) else {"warning": str(each)}
        code = f" (error {known['error_id']})" if "error_id" in known else ""
        parts.append(f"{known.get('warning', 'no words')}{code}")
    return "; ".join(parts) or str(result.get("status"))
