"""The pheromone protocol: gRPC messages by which a policy server answers for single states.

The messages (proto2, packages `phrm.fdr` and `phrm.policy`) are built here at run time, in a
descriptor pool of their own, so that there is no generated code and no clash with a user's. Both
ends of the protocol use this module: the client in `remote`, the server in `server`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from google.protobuf import (  # type: ignore[import-untyped]  # it comes without annotations
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)


def _quiet_grpc() -> Any:
    """Keep gRPC from writing to stderr, which has to be set before its import."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc  # type: ignore[import-untyped]  # it comes without annotations

    return grpc


grpc = _quiet_grpc()

SERVICE = "phrm.policy.Policy"

NO_OPERATOR = -1
"""What a server answers when its policy has no operator for a state; anything less is an error."""

UNLIMITED_MESSAGES = (
    ("grpc.max_receive_message_length", -1),  # tasks are often longer than gRPC's 4 MB
    ("grpc.max_send_message_length", -1),
)

_Field = descriptor_pb2.FieldDescriptorProto
Descriptor = Any


@dataclass(frozen=True, slots=True)
class Method:
    """One call of the service: its path on the wire and its message classes."""

    name: str
    request: Any
    response: Any

    @property
    def path(self) -> str:
        return f"/{SERVICE}/{self.name}"


def _field(name: str, label: int, kind: int, number: int, type_name: str = "") -> Descriptor:
    return _Field(name=name, label=label, type=kind, number=number, type_name=type_name or None)


def _file(
    name: str, package: str, messages: dict[str, list[Descriptor]], imports: Iterable[str] = ()
) -> Descriptor:
    file = descriptor_pb2.FileDescriptorProto(
        name=name, package=package, syntax="proto2", dependency=imports
    )
    for message, fields in messages.items():
        file.message_type.add(name=message).field.extend(fields)
    return file


def _pool() -> Descriptor:
    required, repeated = _Field.LABEL_REQUIRED, _Field.LABEL_REPEATED
    int32, message = _Field.TYPE_INT32, _Field.TYPE_MESSAGE
    state = _field("state", required, message, 1, ".phrm.fdr.State")
    operator = _field("operator", required, int32, 1)
    probability = _field("prob", required, _Field.TYPE_FLOAT, 2)
    choices = _field("operator", repeated, message, 1, ".phrm.policy.OperatorProb")
    task = _field("task", required, _Field.TYPE_STRING, 1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file("fdr.proto", "phrm.fdr", {"State": [_field("val", repeated, int32, 1)]}))
    messages: dict[str, list[Descriptor]] = {
        "RequestFDRTaskFD": [],
        "ResponseFDRTaskFD": [task],
        "RequestFDRStateOperator": [state],
        "ResponseFDRStateOperator": [operator],
        "RequestFDRStateOperatorsProb": [state],
        "OperatorProb": [operator, probability],
        "ResponseFDRStateOperatorsProb": [choices],
    }
    pool.Add(_file("policy.proto", "phrm.policy", messages, imports=["fdr.proto"]))
    return pool


_POOL = _pool()


def _method(name: str, stem: str) -> Method:
    def message(kind: str) -> Any:
        descriptor = _POOL.FindMessageTypeByName(f"phrm.policy.{kind}{stem}")
        return message_factory.GetMessageClass(descriptor)

    return Method(name, message("Request"), message("Response"))


TASK = _method("GetFDRTaskFD", "FDRTaskFD")
OPERATOR = _method("GetFDRStateOperator", "FDRStateOperator")
PROBABILITIES = _method("GetFDRStateOperatorsProb", "FDRStateOperatorsProb")


def state_request(method: Method, values: Iterable[int]) -> Any:
    """What to ask `method` about one state."""
    request = method.request()
    request.state.val.extend(values)
    return request
