"""How to reach the cluster: kubeconfig, contexts, exec plugins, in-cluster account, proxies. All of it is the official client's.

Only its configuration and its connection pool are used: answers go through as bytes, not as the client's model objects.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.bundle.errors import UsageError
from analyzer.collect.errors import ClusterError, words

if TYPE_CHECKING:
    import urllib3

MISSING = "triage collect needs the Kubernetes client: pip install 'bundle-triage[collect]' (or use `triage collect --script`)"

_URL = re.compile(r"https?://[^/\s]", re.IGNORECASE)
_HEADER = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
"""What may stand in the value of an HTTP header."""
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Connection:
    """A cluster that can be asked.

    Attributes:
        pool: the connections, with certificates and proxy set.
        host: the URL of the API server, without a slash at its end.
        headers: gives the headers of identity; asked anew for each request, since tokens expire.
        context: name of the kubeconfig's context; None inside a cluster.
        cluster: name of the kubeconfig's cluster; None inside a cluster.
        namespace: the context's own namespace; None where it names none.
        user: who is impersonated; None: nobody.
    """

    pool: urllib3.PoolManager
    host: str
    headers: Callable[[], list[tuple[str, str]]]
    context: str | None
    cluster: str | None
    namespace: str | None
    user: str | None


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose eyes are used: the kubeconfig and its context (None: the current one), and who is impersonated."""

    kubeconfig: Path | None = None
    context: str | None = None
    user: str | None = None
    groups: Sequence[str] = ()


def connect(identity: Identity, connections: int) -> Connection:
    """Reads the configuration and prepares the connections. Runs the kubeconfig's exec plugin, asks the server nothing.

    Args:
        identity: which kubeconfig, context and impersonated user.
        connections: how many connections are kept open at most.

    Raises:
        UsageError: the client is not installed; there is no kubeconfig, none such context, or it is broken.
        ClusterError: the exec plugin gave no credentials.
    """
    client, config = require_client()
    said = _Said()
    logging.getLogger().addHandler(said)
    settings = client.Configuration()
    settings.connection_pool_maxsize = connections
    settings.retries = False
    source = _kubeconfig(identity.kubeconfig)
    named: dict[str, Any] = {}
    try:
        if source:
            config.load_kube_config(
                config_file=source, context=identity.context, client_configuration=settings, persist_config=False
            )
            named = _named(config, source, identity.context)
        else:
            config.load_incluster_config(client_configuration=settings)
            named = {"namespace": _own_namespace()}
    except UsageError:
        raise
    except Exception as error:  # the client raises whatever its readers raise
        raise UsageError(_config_words(error, source, identity)) from error
    if said.lines:
        raise ClusterError(f"the kubeconfig's credentials could not be had: {said.lines[0]}")
    if not identity.user and isinstance(named.get("as"), str):
        identity = replace(identity, user=named["as"], groups=named["as-groups"])
    if isinstance(named.get("proxy"), str):
        settings.proxy = named["proxy"]
    host = str(settings.host).rstrip("/")
    if not _URL.match(host):
        raise UsageError(f"{source} cannot be used: its server is no URL that begins with https://")
    headers = _headers(settings, identity)
    if any(not _HEADER.fullmatch(value) for _, value in headers()):
        raise UsageError(f"the token in {source or 'this pod'}, or --as or --as-group, has characters that cannot be sent")
    return Connection(
        pool=_pool(client, settings),
        host=host,
        headers=headers,
        context=named.get("context"),
        cluster=named.get("cluster"),
        namespace=named.get("namespace"),
        user=identity.user,
    )


def require_client() -> tuple[Any, Any]:
    """The official client's modules `client` and `config`, which are no part of a plain installation.

    Raises:
        UsageError: it is not installed; the message has the command that installs it.
    """
    try:
        return importlib.import_module("kubernetes.client"), importlib.import_module("kubernetes.config")
    except ImportError as error:
        raise UsageError(MISSING) from error


class _Said(logging.Handler):
    """Keeps what the client logs: it tells of a failed exec plugin in no other way."""

    def __init__(self) -> None:
        super().__init__(level=logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "root":
            self.lines.append(words(record.getMessage()))


def _kubeconfig(given: Path | None) -> str | None:
    """The kubeconfig to read (several paths as KUBECONFIG joins them), or None for the account of a pod."""
    if given is not None:
        if not given.is_file():
            raise UsageError(f"no kubeconfig at {given}")
        return str(given)
    listed = os.environ.get("KUBECONFIG", "")
    if listed:
        paths = [path for path in listed.split(os.pathsep) if path]
        if not any(Path(path).expanduser().is_file() for path in paths):
            raise UsageError(f"no kubeconfig at {listed} (KUBECONFIG)")
        return listed
    home = Path.home() / ".kube" / "config"
    if home.is_file():
        return str(home)
    if os.environ.get("KUBERNETES_SERVICE_HOST") and _ACCOUNT.is_dir():
        return None
    raise UsageError(f"no kubeconfig: give --kubeconfig FILE or set KUBECONFIG (there is no {home}, and this is no pod)")


def _named(config: Any, source: str, asked: str | None) -> dict[str, Any]:
    """The names in the context that is used; nothing of it is needed to talk to the cluster."""
    try:
        contexts, active = config.list_kube_config_contexts(config_file=source)
    except Exception:  # noqa: BLE001 - no current-context, say, which --context makes good
        return {"context": asked}
    found = next((entry for entry in contexts if entry.get("name") == asked), active) if asked else active
    inner = found.get("context") or {}
    names = {"context": found.get("name"), "cluster": inner.get("cluster"), "namespace": inner.get("namespace")}
    merged = config.kube_config.KubeConfigMerger(source).config.value
    user, cluster = (
        _entry(merged, "users", inner.get("user"), "user"),
        _entry(merged, "clusters", inner.get("cluster"), "cluster"),
    )
    # What the client passes over: whom the kubeconfig impersonates, and, in its older versions, the proxy.
    names |= {"as": user.get("as"), "as-groups": tuple(user.get("as-groups") or ()), "proxy": cluster.get("proxy-url")}
    return names


def _entry(merged: Any, part: str, name: object, key: str) -> dict[str, Any]:
    """An entry of a merged kubeconfig, each of which the client wraps."""
    plain = (getattr(entry, "value", entry) for entry in merged[part])
    return next((entry[key] for entry in plain if entry["name"] == name), None) or {}


def _own_namespace() -> str | None:
    try:
        return (_ACCOUNT / "namespace").read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def _config_words(error: Exception, source: str | None, identity: Identity) -> str:
    text = words(error)
    if identity.context and "contexts" in text and "Expected object with name" in text:
        return f"no context {identity.context} in {source}"
    if "current-context" in text:
        return f"{source} has no current context: give --context NAME"
    where = source or "the pod's service account"
    return f"{where} cannot be used: {text or type(error).__name__}"


def _pool(client: Any, settings: Any) -> urllib3.PoolManager:
    """The client's own connection pool, since it knows about certificates, server names and proxies."""
    import urllib3

    # Who has `insecure-skip-tls-verify` in a kubeconfig knows it; kubectl says nothing either.
    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    try:
        pool: urllib3.PoolManager = client.ApiClient(configuration=settings).rest_client.pool_manager
    except Exception as error:  # a certificate that is none, a SOCKS proxy without its library
        raise UsageError(f"the kubeconfig's certificates or proxy cannot be used: {words(error)}") from error
    return pool


def _headers(settings: Any, identity: Identity) -> Callable[[], list[tuple[str, str]]]:
    lock = threading.Lock()
    fixed = [("Impersonate-User", identity.user)] if identity.user else []
    fixed += [("Impersonate-Group", group) for group in identity.groups]

    def headers() -> list[tuple[str, str]]:
        # An exec plugin's token may have to be renewed, by one thread only.
        with lock:
            given = settings.auth_settings().values()
            return [
                (entry["key"], entry["value"]) for entry in given if entry.get("in") == "header" and entry.get("value")
            ] + fixed

    return headers
