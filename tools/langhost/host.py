"""
A Python language host for the Pulumi engine.

The official host is not served as a Go module, so where the engine was built from its module there is none on PATH;
this one stands in. It runs programs in the project's virtual environment, folder plugins and policy packs, and leaves
code generation to the official one. `pulumi/automation/_server.py` in the SDK shows how a program is run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _parent_watch import on_parent_death
from _protocol import (
    LanguageRuntimeServicer,
    add_to_server,
    empty_pb2,
    grpc,
    json_format,
    language_pb2,
    plugin_pb2,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CHILD = Path(__file__).with_name("child.py")
FAILED_AND_SAID_WHY = 32
MAX_MESSAGE_BYTES = 400 * 1024 * 1024
LIST_PACKAGES = (
    "import importlib.metadata as m, json;"
    "print(json.dumps(sorted({(d.metadata['Name'], d.version) for d in m.distributions()})))"
)


class HostError(Exception):
    """Something that the user has to put right before a program can run."""


def interpreter(root: Path, options: Mapping[str, Any]) -> str:
    """
    Return the Python that runs the program: that of `runtime.options.virtualenv`, else the host's own.

    Raises:
        HostError: the virtual environment is named but not there.
    """
    name = options.get("virtualenv")
    if not name:
        return sys.executable
    python = (root / str(name)).absolute() / "bin" / "python"
    if not python.exists():
        raise HostError(
            f"the virtual environment that Pulumi.yaml names is not there (runtime.options.virtualenv: {name})\n"
            f"  have: no file {python}\n"
            f"  fix:  run 'make setup', or 'pulumi install'",
        )
    return str(python)


def of_info(info: Any) -> tuple[str, Path]:  # noqa: ANN401 - a generated message
    """Return the Python of a program, and the path of the program itself."""
    folder = Path(info.program_directory)
    target = folder if info.entry_point in ("", ".") else folder / info.entry_point
    return interpreter(Path(info.root_directory), json_format.MessageToDict(info.options)), target


class Children:
    """The processes that this host has started, so that each can be stopped, and none is left behind."""

    def __init__(self) -> None:
        """Start with none."""
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - of Popen
        """Start a process in a group of its own."""
        child = subprocess.Popen(command, start_new_session=True, **options)
        with self._lock:
            self._running.add(child)
        return child

    def ended(self, child: subprocess.Popen[bytes]) -> int:
        """Wait for a process, forget it, and return its exit code."""
        code = child.wait()
        with self._lock:
            self._running.discard(child)
        return code

    def stop(self, signal_number: int = signal.SIGTERM) -> None:
        """Send a signal to every process that is still running, and to what it started."""
        with self._lock:
            for child in self._running:
                if child.poll() is None:
                    os.killpg(child.pid, signal_number)


class LanguageHost(LanguageRuntimeServicer):  # type: ignore[misc]  # generated, without types
    """Answers the engine. Names of methods and messages are the protocol's."""

    def __init__(self) -> None:
        """Start with no process running."""
        self.engine = ""
        self.programs = Children()
        self.plugins = Children()

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Remember where the engine listens."""
        self.engine = request.engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Say the version, which is that of the SDK that this host was written against."""
        return plugin_pb2.PluginInfo(version="3.272.0")

    def About(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Say which Python runs a program."""
        python, _ = of_info(request.info)
        version = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
        return language_pb2.AboutResponse(executable=python, version=version.stdout.removeprefix("Python ").strip())

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Name none: plugins are asked for when the program registers its first resource of one."""
        return language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Name none, as above."""
        return language_pb2.GetRequiredPackagesResponse()

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """List what is installed in the program's environment."""
        python, _ = of_info(request.info)
        listed = subprocess.run([python, "-c", LIST_PACKAGES], capture_output=True, check=True)
        found = [language_pb2.DependencyInfo(name=name, version=version) for name, version in json.loads(listed.stdout)]
        return language_pb2.GetProgramDependenciesResponse(dependencies=found)

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802, ANN401
        """Make the virtual environment where it is missing, and install what the folder asks for."""
        for command in install_commands(request):
            child = self.programs.start(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=request.directory
            )
            for line in child.stdout or ():
                yield language_pb2.InstallDependenciesResponse(stdout=line)
            if self.programs.ended(child):
                context.abort(grpc.StatusCode.INTERNAL, f"{' '.join(command)} failed; its output is above")

    def Run(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Run the program; its output is this process' own, which the engine shows."""
        try:
            python, program = of_info(request.info)
        except HostError as error:
            return language_pb2.RunResponse(error=str(error))
        child = self.programs.start(
            [python, "-u", str(CHILD), "program", str(program)],
            env=program_environment(request, self.engine),
            cwd=request.pwd or request.info.program_directory,
        )
        code = self.programs.ended(child)
        if code == FAILED_AND_SAID_WHY:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=f"the program ended with exit code {code}" if code else "")

    def RunPlugin(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802, ANN401
        """Run a plugin that is a folder of Python; stream its output and, at last, its exit code."""
        try:
            python, program = of_info(request.info)
        except HostError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        child = self.plugins.start(
            [python, "-u", str(CHILD), *plugin_arguments(request, program)],
            env=dict(entry.split("=", 1) for entry in request.env) or None,
            cwd=request.pwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        context.add_callback(lambda: stop_one(child))
        for line in child.stdout or ():
            yield language_pb2.RunPluginResponse(stdout=line)
        yield language_pb2.RunPluginResponse(exitcode=self.plugins.ended(child))

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401, ARG002
        """Stop the program. Plugins go on: the engine still needs them to end cleanly."""
        self.programs.stop()
        return empty_pb2.Empty()


def stop_one(child: subprocess.Popen[bytes]) -> None:
    """End a plugin whose caller has gone."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGTERM)


def plugin_arguments(request: Any, program: Path) -> list[str]:  # noqa: ANN401 - a generated message
    """Return the child's arguments: a policy pack by the SDK's own runner, anything else as a package."""
    arguments = list(request.args)
    if request.kind == "analyzer":
        return ["module", "pulumi.policy", *arguments[:1], str(program), *arguments[1:]]
    return ["path", str(program), *arguments]


def program_environment(request: Any, engine: str) -> dict[str, str]:  # noqa: ANN401 - a generated message
    """Return the environment of a program: ours, its configuration, and where the engine listens."""
    run = {
        "project": request.project,
        "stack": request.stack,
        "root_directory": request.info.root_directory,
        "organization": request.organization or "organization",
        "monitor": request.monitor_address,
        "engine": request.args[0] if request.args else engine,
        "parallel": request.parallel,
        "dry_run": request.dryRun,
    }
    return {
        **os.environ,
        "PULUMI_CONFIG": json.dumps(dict(request.config)),
        "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        "COLDAISLE_RUN": json.dumps(run),
    }


def install_commands(request: Any) -> list[list[str]]:  # noqa: ANN401 - a generated message
    """Return the commands that make a program's environment; none where there is nothing to install from."""
    folder = Path(request.directory)
    name = json_format.MessageToDict(request.info.options).get("virtualenv")
    commands = []
    python = sys.executable
    if name:
        environment = (Path(request.info.root_directory or folder) / str(name)).absolute()
        python = str(environment / "bin" / "python")
        if not Path(python).exists():
            commands.append([sys.executable, "-m", "venv", str(environment)])
    if (folder / "requirements.txt").exists():
        commands.append([python, "-m", "pip", "install", "-r", "requirements.txt"])
    elif (folder / "pyproject.toml").exists():
        commands.append([python, "-m", "pip", "install", "-e", "."])
    return commands


def serve() -> None:
    """Listen on a free port of the loopback, print it, and serve until the engine is gone."""
    host = LanguageHost()

    def engine_is_gone() -> None:
        host.programs.stop(signal.SIGKILL)
        host.plugins.stop()  # a plugin may have children of its own to end first
        os._exit(1)

    def asked_to_end(*_: object) -> None:
        host.programs.stop()
        host.plugins.stop()
        os._exit(0)

    on_parent_death(engine_is_gone)
    for number in (signal.SIGINT, signal.SIGTERM):  # the engine ends its plugins with an interrupt
        signal.signal(number, asked_to_end)
    options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)]
    server = grpc.server(ThreadPoolExecutor(max_workers=32), options=options)
    add_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # noqa: T201 - the protocol: the engine reads the port from the first line
    server.wait_for_termination()


if __name__ == "__main__":
    serve()
