"""Where the daemon listens: one port, and a Unix socket for its owner.

If the usual port is taken, the next free one is used, unless the port was named. A socket path that would be too long
is replaced by one in a private temporary folder.
"""

from __future__ import annotations

import errno
import hashlib
import ipaddress
import os
import socket
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..entrypoints.system import is_private, user_id
from ..errors import BadInput, PortTaken, StoreReadOnly

NAME = "daemon.sock"
LONGEST = 100  # bytes of a socket's path: 104 with the end mark on macOS, 108 on Linux
NEXT = 50  # ports after the usual one that are tried
BACKLOG = 512


def loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine.

    >>> [loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.168.1.7", "example.org")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address(info: Mapping[str, Any]) -> str:
    """
    >>> address({"host": "127.0.0.1", "port": 7733}), address({"host": "::1", "port": 80})
    ('http://127.0.0.1:7733', 'http://[::1]:80')
    """
    host = info["host"] if ":" not in info["host"] else f"[{info['host']}]"
    return f"http://{host}:{info['port']}"


def login_link(info: Mapping[str, Any], code: str) -> str:
    """Where a browser logs in with a code, which stands behind the # and so is in no request and no log.

    >>> login_link({"host": "0.0.0.0", "port": 7733}, "c0de")
    'http://127.0.0.1:7733/#/login?code=c0de'
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(str(info["host"]), str(info["host"]))
    at = address({**info, "host": host})
    return f"{at}/#/login?code={code}" if loopback(host) else f"{at}/"


def tcp(host: str, port: int, *, exactly: bool) -> socket.socket:
    """A listening port: this one, or where it need not be exactly this one, the next that is free. 0 is any."""
    if not 0 <= port <= 65535:
        raise BadInput(f"port must be from 1 to 65535, not {port}.")
    tries = [port] if exactly else [*range(port, min(port + NEXT, 65536)), 0]
    for number in tries:
        try:
            return _bound(host, number)
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, socket.EAI_NONAME) or isinstance(error, socket.gaierror):
                raise BadInput(
                    f"host {host!r} is no address of this machine.", fix="Use 127.0.0.1, or an address it has."
                ) from error
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            taken = "is taken by another program" if error.errno == errno.EADDRINUSE else "may not be used by you"
    raise PortTaken(f"Port {port} on {host} {taken}.")


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port we left a moment ago is ours again
        made.bind(address)
        made.listen(BACKLOG)
    except OSError:
        made.close()
        raise
    return made


def unix(home: Path) -> socket.socket | None:
    """The socket of a home, where the system has such sockets. Whoever calls this holds the home's lock."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    at = place(home)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        at.unlink(missing_ok=True)
        made.bind(str(at))
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise StoreReadOnly(f"The socket {at} cannot be made: {error.strerror}.") from error
    finally:
        os.umask(before)
    return made


def place(home: Path) -> Path:
    """Where the socket of a home lies."""
    at = home.absolute() / NAME
    if len(os.fsencode(at)) <= LONGEST:
        return at
    folder = Path(tempfile.gettempdir()) / f"recollect-{user_id()}"
    if len(os.fsencode(folder)) > LONGEST - 25:
        folder = Path("/tmp") / folder.name
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    # Anybody may make folders there, so one that is not ours, or open to others, is not to be trusted.
    if not stat.S_ISDIR(found.st_mode) or not is_private(found):
        raise StoreReadOnly(f"{folder} is not yours alone.", fix="Remove it, or use a shorter RECOLLECT_HOME.")
    return folder / f"{hashlib.sha256(os.fsencode(home.absolute())).hexdigest()[:16]}.sock"


def clear(home: Path) -> None:
    """Take the socket away, and the folder that was made for it, if nobody else's is in it."""
    if not hasattr(socket, "AF_UNIX"):
        return
    at = place(home)
    at.unlink(missing_ok=True)
    if at.parent != home.absolute() and not any(at.parent.iterdir()):
        at.parent.rmdir()
