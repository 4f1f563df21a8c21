"""A Dask cluster with certificates: results are encrypted, and other clients are rejected."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reference.bug_workspace import InThreads
from reference.dask_cluster import Certificates, Cluster

from engine.errors import UsageError
from engine.records.config import CampaignConfig
from engine.records.events import ClusterSize
from engine.usecases.campaign import run
from engine.workers.channel import Call, ChannelError, Connection, Side, Take
from engine.workers.cluster import ClusterExecutor
from engine.workers.encrypted import EncryptedSocket
from engine.workers.server import WorkerAddress, WorkerServer, cluster_certificate
from engine.workspace.workspace import Workspace


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.make(tmp_path_factory.mktemp("certificates") / "cluster")


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, certificates: Certificates
) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("dask") / "cluster", certificates) as cluster:
        cluster.add_worker()
        yield cluster


def test_a_campaign_finds_the_same(
    cluster: Cluster,
    certificates: Certificates,
    configure: Callable[..., CampaignConfig],
    tmp_path: Path,
) -> None:
    assert cluster.address.startswith("tls://")
    config = configure(problems='"p1.pddl"')
    with certificates.used_here():
        executor = ClusterExecutor(cluster.address)
        assert executor._server.add(Call.of(look_away), print).is_encrypted
        with Workspace.create(tmp_path / "w.plumb") as store:
            assert run(config, store, executor=executor).finished
            found = [row.bound for row in store.bugs()]
    with Workspace.create(tmp_path / "here.plumb") as store:
        assert run(config, store, executor=InThreads(1)).finished
        assert found == [row.bound for row in store.bugs()] != []


def look_away(link: object) -> None:
    """Never called."""


def test_who_has_no_certificate_is_reported(cluster: Cluster) -> None:
    with pytest.raises(UsageError, match=r"no Dask scheduler answers|cannot be used"):
        ClusterExecutor(cluster.address)


@pytest.fixture
def server(certificates: Certificates) -> Iterator[WorkerServer]:
    with certificates.used_here():
        server = WorkerServer(("127.0.0.1", 0), cluster_certificate(server=True))
    yield server
    server.close()


def test_the_secret_alone_opens_nothing(
    server: WorkerServer, certificates: Certificates, tmp_path: Path
) -> None:
    """A client that reads it from the scheduler still needs a certificate of the cluster."""
    address = server.add(Call.of(look_away), print)
    plain = WorkerAddress(address.number, address.address, address.secret)
    with pytest.raises((OSError, EOFError, ChannelError)):
        plain.connect()
    stranger = Certificates.make(tmp_path / "stranger")
    with stranger.used_here(), pytest.raises(OSError, match="certificate"):
        address.connect()
    with certificates.used_here():
        connection = address.connect()
    with connection:
        connection.send(Take(address.number))
        assert isinstance(connection.receive(), Call)


def test_a_worker_that_takes_any_certificate_needs_one_of_the_cluster(
    server: WorkerServer, tmp_path: Path
) -> None:
    """It does not mind whom it talks to, but the campaign does."""
    address = server.add(Call.of(look_away), print)
    stranger = Certificates.make(tmp_path / "stranger")
    with stranger.used_here():
        careless = cluster_certificate(server=False)
    careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
    underlying = socket.create_connection(address.address)
    connection = Connection(EncryptedSocket(underlying, careless, server=False))

    def make_the_call() -> None:
        connection.authenticate(address.secret, Side.WORKER)
        connection.send(Take(address.number))
        connection.receive()

    with connection, pytest.raises((OSError, EOFError)):
        make_the_call()


def test_a_server_that_only_knows_the_secret_is_no_campaign(
    certificates: Certificates, tmp_path: Path
) -> None:
    stranger = Certificates.make(tmp_path / "stranger")
    with stranger.used_here():
        impostor = WorkerServer(("127.0.0.1", 0), cluster_certificate(server=True))
    address = impostor.add(Call.of(look_away), print)
    with certificates.used_here(), pytest.raises(OSError, match="certificate"):
        address.connect()
    impostor.close()


def test_both_sides_may_send_more_than_fits_at_once(certificates: Certificates) -> None:
    """While each of them waits for the other to read."""
    with certificates.used_here():
        contexts = cluster_certificate(server=True), cluster_certificate(server=False)
    ends = [
        Connection(EncryptedSocket(end, context, server=not number))
        for number, (end, context) in enumerate(zip(socket.socketpair(), contexts, strict=True))
    ]
    sides = (Side.SERVER, Side.WORKER)
    received: list[list[object]] = [[], []]

    def talk(number: int) -> None:
        ends[number].authenticate(b"s", sides[number])
        listener = threading.Thread(target=listen, args=[number])
        listener.start()
        for count in range(30):
            ends[number].send(Call(f"{count}:" + "x" * 200_000, ()))
        listener.join()

    def listen(number: int) -> None:
        received[number] = [ends[number].receive() for _ in range(30)]

    talkers = [threading.Thread(target=talk, args=[number]) for number in (0, 1)]
    for thread in talkers:
        thread.start()
    for thread in talkers:
        thread.join(60)
    for messages in received:
        numbers = [m.function.partition(":")[0] for m in messages if isinstance(m, Call)]
        assert numbers == list(map(str, range(30)))
    ends[0].close()
    with pytest.raises((EOFError, ssl.SSLError)):
        ends[1].receive()
    ends[1].close()


def test_sizes_are_reported(cluster: Cluster, certificates: Certificates) -> None:
    with certificates.used_here():
        executor = ClusterExecutor(cluster.address)
        assert executor.size == ClusterSize(1, 1)
        executor.close()
