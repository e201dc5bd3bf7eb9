"""
The engine's protocol, without the rest of the SDK.

`import pulumi` takes half a second of CPU, once in every command. The language host needs only the generated messages,
so the packages above them are put in place as empty ones; nothing else is imported into this process.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any


def _hollow_packages() -> None:
    """Put the packages above the generated modules in place, without content."""
    spec = importlib.util.find_spec("pulumi")
    if spec is None or spec.origin is None:
        sys.exit("pulumi-language-python: this Python has no package 'pulumi'; run 'make setup'")
    root = Path(spec.origin).parent
    for name, folder in (("pulumi", "."), ("pulumi.runtime", "runtime"), ("pulumi.runtime.proto", "runtime/proto")):
        module = types.ModuleType(name)
        module.__path__ = [str(root / folder)]
        sys.modules[name] = module


_hollow_packages()
language_pb2: Any = importlib.import_module("pulumi.runtime.proto.language_pb2")
plugin_pb2: Any = importlib.import_module("pulumi.runtime.proto.plugin_pb2")
empty_pb2: Any = importlib.import_module("google.protobuf.empty_pb2")
json_format: Any = importlib.import_module("google.protobuf.json_format")
_services: Any = importlib.import_module("pulumi.runtime.proto.language_pb2_grpc")
LanguageRuntimeServicer: Any = _services.LanguageRuntimeServicer
add_to_server: Any = _services.add_LanguageRuntimeServicer_to_server
grpc: Any = importlib.import_module("grpc")
