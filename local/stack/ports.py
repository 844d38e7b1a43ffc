"""Says who holds a port, before something fails on it."""

import socket
from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class PortHolder:
    """The process that listens on a port; `pid` is None when the system does not tell."""

    pid: int | None
    name: str

    def __str__(self) -> str:
        return f"{self.name} (pid {self.pid})" if self.pid else "another process"


def is_free(port: int) -> bool:
    """Say whether 127.0.0.1:`port` can be bound right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose last connections are still in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def holder_of(port: int) -> PortHolder:
    """Name the process that listens on `port`, as far as the system lets us see it."""
    for pid in psutil.pids():
        try:
            process = psutil.Process(pid)
            for connection in process.net_connections(kind="tcp"):
                if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
                    return PortHolder(pid, process.name())
        except psutil.Error:
            continue
    return PortHolder(None, "")
