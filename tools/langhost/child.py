"""
What the language host starts: a Pulumi program, or a Python module that is a plugin.

A process of its own, so that a program that crashes, or is cancelled, takes nothing else with it. Configuration comes
in the environment and never in the arguments, since it may hold secrets.

    child.py program PATH     settings in COLDAISLE_RUN (JSON); exit code 32 means "failed, and has said why"
    child.py module NAME ARGS…    as `python -m NAME ARGS…`
    child.py path PATH ARGS…      as `python PATH ARGS…`
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import runpy
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _parent_watch import exit_with_parent

FAILED_AND_SAID_WHY = 32
"""Exit code with which the official host, too, says that the user has already been told."""


def _configure() -> int:
    """Connect the SDK to the engine; return the number of threads that the program may use."""
    import pulumi.runtime  # noqa: PLC0415 - heavy, and not needed by plugins

    run = json.loads(os.environ.pop("COLDAISLE_RUN"))
    parallel = run["parallel"]
    pulumi.runtime.configure(pulumi.runtime.Settings(**run))
    return max(parallel, 1) * 4 if parallel else 4


def _source(path: Path) -> str:
    """Make the program's folder importable, as `python PATH` would; return what `runpy` should run."""
    sys.path.insert(0, str(path if path.is_dir() else path.parent))
    return str(path)


def _run_path(source: str) -> None:
    """Run a file or folder as the main program."""
    runpy.run_path(source, run_name="__main__")


def run_program(path: Path) -> int:
    """Run the program at `path` against the engine; return the exit code."""
    import grpc  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy, and not needed by plugins
    import pulumi  # noqa: PLC0415
    import pulumi.runtime  # noqa: PLC0415

    threads = _configure()
    source = _source(path)
    sys.argv = [source]
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # tasks of a failed program are reported once, below
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=threads))
    try:
        loop.run_until_complete(
            pulumi.runtime.run_in_stack(lambda: _run_path(source)),
        )
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return FAILED_AND_SAID_WHY
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.UNAVAILABLE:  # the engine is shutting down: nobody is left to be told
            return 0
        pulumi.log.error(f"the engine refused a request: {error.details()}")
        return FAILED_AND_SAID_WHY
    except Exception:  # noqa: BLE001 - whatever a program raises is its failure, shown with its traceback
        pulumi.log.error("Program failed with an unhandled exception:\n" + traceback.format_exc())
        return FAILED_AND_SAID_WHY
    return 0


def main(arguments: list[str]) -> int:
    """Run what the arguments name."""
    exit_with_parent()
    kind, target, *rest = arguments
    sys.path.pop(0)  # this folder: a program's own modules must not be hidden by ours
    if kind == "program":
        return run_program(Path(target))
    sys.argv = [target, *rest]
    if kind == "path":
        _run_path(_source(Path(target)))
    else:
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads of gRPC may still wait for an engine that is gone
