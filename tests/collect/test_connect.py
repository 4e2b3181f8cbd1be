"""Kubeconfigs, identities, certificates, proxies; and what a user is told where something is wrong."""

from __future__ import annotations

import base64
import json
import os
import socket
import ssl
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from analyzer.collect.connect import Identity

from .conftest import Collect, triage
from .mock import kubeconfig, small


def one_line(done: Any, code: int, words: str) -> None:
    """The program ended with this code and exactly one line that has these words."""
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert words in done.stderr, done.stderr


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def test_no_kubeconfig(tmp_path: Path) -> None:
    one_line(triage("collect", cwd=tmp_path), 2, "no kubeconfig: give --kubeconfig FILE or set KUBECONFIG")
    one_line(triage("collect", "--kubeconfig", tmp_path / "nope"), 2, f"no kubeconfig at {tmp_path / 'nope'}")


def test_kubeconfig_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nope"))
    one_line(triage("collect", cwd=tmp_path), 2, "(KUBECONFIG)")
    with small().running() as cluster:
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(tmp_path / "nope"), str(cluster.kubeconfig(tmp_path))]))
        done = triage("collect", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.glob("triage-lab-*Z.tar.gz")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be used"),
        ("{", "cannot be used"),
        ("[1, 2]", "cannot be used"),
        ("apiVersion: v1\nkind: Config\nclusters: []\nusers: []\ncontexts: []\n", "has no current context"),
        ("apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: []\nusers: []\ncontexts: []\n", "cannot be used"),
        ("\x00\x01", "cannot be used"),
    ],
)
def test_broken_kubeconfigs(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    one_line(triage("collect", "--kubeconfig", path), 2, words)


@pytest.mark.parametrize("server", ["", "127.0.0.1:1", "ftp://h", "https://"])
def test_a_server_that_is_no_url(tmp_path: Path, server: str) -> None:
    one_line(triage("collect", "--kubeconfig", kubeconfig(tmp_path, server)), 2, "its server is no URL")


def test_what_cannot_be_sent_as_a_header(tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, "http://127.0.0.1:1", token="abc\ndef")
    one_line(triage("collect", "--kubeconfig", config), 2, "has characters that cannot be sent")
    config = kubeconfig(tmp_path, "http://127.0.0.1:1")
    one_line(triage("collect", "--kubeconfig", config, "--as", "a\nX-Remote-User: b"), 2, "has characters that cannot be sent")


@pytest.mark.parametrize("name", ["", "*", "../x", "A"])
def test_a_namespace_that_is_no_name(tmp_path: Path, name: str) -> None:
    """An empty one would ask for all of them, in a bundle that says that it is limited."""
    one_line(
        triage("collect", "--kubeconfig", kubeconfig(tmp_path, "http://127.0.0.1:1"), "-n", name), 2, "no name of a namespace"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with small().running() as cluster:
        done = triage("collect", "--kubeconfig", cluster.kubeconfig(tmp_path), "--force", "-o", tmp_path / "pipe")
    one_line(done, 2, "is no file that could be replaced")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_wrong_context(tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, "http://127.0.0.1:1")
    one_line(triage("collect", "--kubeconfig", config, "--context", "prod"), 2, f"no context prod in {config}")


def test_context_without_a_current_one(tmp_path: Path) -> None:
    with small().running() as cluster:
        config = cluster.kubeconfig(tmp_path)
        value = yaml.safe_load(config.read_text())
        del value["current-context"]
        config.write_text(yaml.safe_dump(value))
        done = triage("collect", "--kubeconfig", config, "--context", "lab", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("triage-lab-*.tar.gz"))


def test_unreachable(tmp_path: Path) -> None:
    port = free_port()
    config = kubeconfig(tmp_path, f"http://127.0.0.1:{port}")
    done = triage("collect", "--kubeconfig", config, cwd=tmp_path)
    one_line(done, 3, f"http://127.0.0.1:{port} cannot be reached: Connection refused")
    config = kubeconfig(tmp_path, "https://no-such-host.invalid:6443")
    one_line(triage("collect", "--kubeconfig", config, cwd=tmp_path), 3, "https://no-such-host.invalid:6443 cannot be reached: ")
    assert not list(tmp_path.glob("*.tar.gz"))


def test_credentials_that_are_not_accepted(tmp_path: Path) -> None:
    import aiohttp.web

    cluster = small()
    cluster.faults["/version"] = [lambda _: aiohttp.web.json_response({"message": "Unauthorized"}, status=401)]
    with cluster.running():
        done = triage("collect", "--kubeconfig", cluster.kubeconfig(tmp_path), cwd=tmp_path)
    one_line(done, 3, "does not accept these credentials (401 Unauthorized)")


def test_no_permission(tmp_path: Path) -> None:
    cluster = small()
    cluster.forbidden.update({"namespaces", "nodes", "pods", "events", "deployments.apps"})
    cluster.resources["namespaces"].clear()
    with cluster.running():
        done = triage("collect", "--kubeconfig", cluster.kubeconfig(tmp_path), cwd=tmp_path)
    one_line(done, 3, "no permission to read anything of the cluster: ")
    assert not list(tmp_path.glob("*.tar.gz"))


def test_partial_permission_is_a_warning(tmp_path: Path) -> None:
    cluster = small().serve("secrets").serve("services")
    cluster.forbidden.update({"secrets", "services"})
    with cluster.running():
        done = triage("collect", "--kubeconfig", cluster.kubeconfig(tmp_path), "-o", tmp_path / "x.tar.gz")
    assert done.returncode == 0
    assert done.stderr == "warning: 2 lists forbidden: secrets, services\n"
    assert done.stdout.startswith(f"{tmp_path / 'x.tar.gz'}: 9 objects, 2 logs, ")


def test_an_include_that_is_not_there(tmp_path: Path) -> None:
    with small().running() as cluster:
        config = cluster.kubeconfig(tmp_path)
        done = triage("collect", "--kubeconfig", config, "--include", "exmaple.com", "--include", "apps", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == "warning: --include exmaple.com: the cluster has no such group or resource\n"


def test_output_exists(tmp_path: Path) -> None:
    with small().running() as cluster:
        config = cluster.kubeconfig(tmp_path)
        target = tmp_path / "x.tar.gz"
        target.write_text("mine")
        one_line(triage("collect", "--kubeconfig", config, "-o", target), 2, "exists: give another -o FILE, or --force")
        assert target.read_text() == "mine"
        one_line(triage("collect", "--kubeconfig", config, "-o", tmp_path), 2, "is a folder")
        one_line(
            triage("collect", "--kubeconfig", config, "-o", tmp_path / "no" / "x.tar.gz"), 2, "cannot be written: No such file"
        )
        assert cluster.requests == []
        done = triage("collect", "--kubeconfig", config, "-o", target, "--force")
    assert done.returncode == 0
    assert target.read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--since", "soon"], "--since takes a time such as"),
        (["--since", "0s"], "--since is at least a second"),
        (["--max-log-bytes", "5X"], "--max-log-bytes takes a size"),
        (["--max-log-bytes", "1G"], "--max-log-bytes is at most 64M"),
        (["--max-total-log-bytes", "1"], "takes a size of at least 1K"),
        (["--timeout", "-3s"], "--timeout takes a time"),
        (["--as-group", "x"], "--as-group needs --as"),
        (["--qps", "0"], "--qps"),
        (["--compress", "xz"], "--compress"),
        (["somewhere"], "unexpected extra argument"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = triage("collect", "--kubeconfig", kubeconfig(tmp_path, "http://127.0.0.1:1"), *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_client(tmp_path: Path) -> None:
    """As in a plain installation: a module of that name that cannot be imported stands first."""
    (tmp_path / "kubernetes.py").write_text("raise ImportError('no')\n")
    command = [sys.executable, "-m", "analyzer", "collect"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)
    one_line(done, 2, "pip install 'bundle-triage[collect]'")


def test_identity_headers(collect: Collect) -> None:
    with small().running() as cluster:
        bundle = collect(cluster, identity=Identity(user="jane", groups=("a", "b")))
    raw = cluster.requests[-1].raw.headers
    assert raw["Authorization"] == "Bearer not-a-real-token-1234"
    assert raw.getall("Impersonate-User") == ["jane"]
    assert raw.getall("Impersonate-Group") == ["a", "b"]
    assert bundle.manifest["options"]["as"] == "jane"
    assert not any(b"not-a-real-token" in data for data in bundle.files.values())


def test_impersonation_of_the_kubeconfig(tmp_path: Path) -> None:
    with small().running() as cluster:
        config = cluster.kubeconfig(tmp_path, token="t", **{"as": "robot", "as-groups": ["g"]})
        assert triage("collect", "--kubeconfig", config, cwd=tmp_path).returncode == 0
        assert cluster.requests[-1].headers["Impersonate-User"] == "robot"
        assert cluster.requests[-1].headers["Impersonate-Group"] == "g"
        assert triage("collect", "--kubeconfig", config, "--as", "jane", "-o", tmp_path / "2.tar.gz").returncode == 0
    assert cluster.requests[-1].headers["Impersonate-User"] == "jane"
    assert "Impersonate-Group" not in cluster.requests[-1].headers


def plugin(folder: Path, script: str) -> dict[str, Any]:
    path = folder / "plugin"
    path.write_text(f"#!{sys.executable}\n{script}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(path), "interactiveMode": "Never"}}


@pytest.mark.skipif(sys.platform == "win32", reason="a script with #!")
def test_exec_plugins(tmp_path: Path) -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "from-the-plugin"},
    }
    with small().running() as cluster:
        good = cluster.kubeconfig(tmp_path, **plugin(tmp_path, f"print('''{json.dumps(credential)}''')"))
        assert triage("collect", "--kubeconfig", good, cwd=tmp_path).returncode == 0
        assert {request.headers["Authorization"] for request in cluster.requests} == {"Bearer from-the-plugin"}
        bad = cluster.kubeconfig(tmp_path, **plugin(tmp_path, "import sys; sys.exit('session expired password=hunter22hunter')"))
        done = triage("collect", "--kubeconfig", bad, cwd=tmp_path)
        one_line(done, 3, "the kubeconfig's credentials could not be had: exec: process returned 1. session expired")
        assert "hunter22" not in done.stderr
        (tmp_path / "plugin").unlink()
        one_line(triage("collect", "--kubeconfig", bad, cwd=tmp_path), 3, "No such file or directory")


def test_user_and_password(collect: Collect, tmp_path: Path) -> None:
    with small().running() as cluster:
        config = cluster.kubeconfig(tmp_path, username="u", password="p")
        assert triage("collect", "--kubeconfig", config, cwd=tmp_path).returncode == 0
    assert cluster.requests[0].headers["Authorization"] == "Basic " + base64.b64encode(b"u:p").decode()


def certificate(folder: Path, days: int) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that ends in so many days, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    crt, pem = folder / "tls.crt", folder / "tls.key"
    crt.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return crt, pem


@contextmanager
def tls_server(crt: Path, key: Path) -> Iterator[str]:
    """A TLS server that knows nothing."""
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(crt, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def test_an_expired_certificate(tmp_path: Path) -> None:
    crt, key = certificate(tmp_path, -1)
    with tls_server(crt, key) as url:
        config = kubeconfig(tmp_path, url)
        value = yaml.safe_load(config.read_text())
        value["clusters"][0]["cluster"]["certificate-authority"] = str(crt)
        config.write_text(yaml.safe_dump(value))
        one_line(triage("collect", "--kubeconfig", config, cwd=tmp_path), 3, "certificate has expired")


def test_an_unknown_certificate(tmp_path: Path) -> None:
    crt, key = certificate(tmp_path, 30)
    with tls_server(crt, key) as url:
        one_line(triage("collect", "--kubeconfig", kubeconfig(tmp_path, url), cwd=tmp_path), 3, "self-signed certificate")


def test_a_certificate_file_that_is_none(tmp_path: Path) -> None:
    crt, key = certificate(tmp_path, 30)
    with tls_server(crt, key) as url:
        config = kubeconfig(tmp_path, url)
        value = yaml.safe_load(config.read_text())
        value["clusters"][0]["cluster"]["certificate-authority-data"] = base64.b64encode(b"nothing").decode()
        config.write_text(yaml.safe_dump(value))
        one_line(triage("collect", "--kubeconfig", config, cwd=tmp_path), 3, "no certificate or crl found")


def test_a_certificate_that_is_not_checked(tmp_path: Path) -> None:
    crt, key = certificate(tmp_path, -1)
    with tls_server(crt, key) as url:
        config = kubeconfig(tmp_path, url)
        value = yaml.safe_load(config.read_text())
        value["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
        config.write_text(yaml.safe_dump(value))
        one_line(triage("collect", "--kubeconfig", config, cwd=tmp_path), 3, f"{url} answers with 501: ")


class Proxy(BaseHTTPRequestHandler):
    """A proxy for plain HTTP that notes what it was asked for."""

    asked: list[str]

    def do_GET(self) -> None:
        import urllib.request

        self.asked.append(self.path)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(self.path, headers=dict(self.headers))
        try:
            with opener.open(request) as answer:
                code, body = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            code, body = error.code, error.read()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_proxy_of_the_kubeconfig(tmp_path: Path) -> None:
    asked: list[str] = []
    handler = type("Handler", (Proxy,), {"asked": asked})
    proxy = HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    with small().running() as cluster:
        config = cluster.kubeconfig(tmp_path)
        value = yaml.safe_load(config.read_text())
        value["clusters"][0]["cluster"]["proxy-url"] = f"http://127.0.0.1:{proxy.server_address[1]}"
        config.write_text(yaml.safe_dump(value))
        done = triage("collect", "--kubeconfig", config, cwd=tmp_path)
    proxy.shutdown()
    assert done.returncode == 0, done.stderr
    assert f"{cluster.url}/version" in asked
