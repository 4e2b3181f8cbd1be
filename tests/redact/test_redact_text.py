"""Secrets in free text: log lines, messages of events and errors, files kept as text."""

from __future__ import annotations

import base64
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.redact import configure, is_masked, mask_text, placeholder

SECRET = "Xq7hunter2Zz"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzaG9wIn0.c2lnbmF0dXJlLW9mLWEtand0"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7hunter2\nbm90IGEga2V5\n-----END RSA PRIVATE KEY-----"
PAIR = base64.b64encode(f"shop:{SECRET}".encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        f"password={SECRET}",
        f"\x1b[36mpassword\x1b[0m={SECRET}",
        f'\x1b[34m"password"\x1b[0m: \x1b[32m"{SECRET}"\x1b[0m',
        f"Authorization: \x1b[1mBearer \x1b[0m{SECRET}",
        f"{{'password': b'{SECRET}'}}",
        f'Config {{ password: Some("{SECRET}") }}',
        f'log {{"password":{{"value":"{SECRET}"}}}}',
        f'log {{"apiKeys": ["a", "{SECRET}"]}}',
        f"PresharedKey = {SECRET}=",
        f"ERLANG_COOKIE={SECRET}",
        f"requirepass {SECRET}",
        f"redis-server --requirepass {SECRET}",
        f"bind 0.0.0.0\nmasterauth {SECRET}\nport 1",
        f"Your token is: {SECRET}9",
        f"admin password reset to {SECRET}",
        f"Incorrect API key provided: {SECRET}9",
        f"A temporary password is generated for root@localhost: {SECRET}",
        f"aws configure set aws_secret_access_key {SECRET}",
        f"wandb login --relogin {SECRET}{SECRET}",
        f"vault login {SECRET}{SECRET}",
        f"mc alias set shop https://s3.example.com user {SECRET}",
        f"mongosh -u shop -p {SECRET} --eval 1",
        f"ldapsearch -D cn=shop -w {SECRET} -b dc=x",
        f"echo {SECRET} | docker login -u shop --password-stdin quay.io",
        f"kubectl create secret generic x --from-literal=pw={SECRET}",
        f'"GET /blob?sv=1&sig={SECRET} HTTP/1.1" 200',
        f"GET /b?X-Amz-Date=1&X-Amz-Signature={SECRET} HTTP/1.1",
        f"https://api.telegram.org/bot123456789:{SECRET}{SECRET}/sendMessage",
        f"https://discord.com/api/webhooks/123456789012345678/{SECRET}{SECRET}",
        f"PASSWORD = {SECRET}",
        f"docker login -u shop -p{SECRET} quay.io",
        f"oc login -u=shop -p={SECRET} --server=x",
        f"AZURE_DEVOPS_PAT={SECRET}{SECRET}",
        f'"GITEA_PAT": "{SECRET}{SECRET}"',
        f"PGPASS={SECRET}",
        f"host\ndb.example.com:5432:shop:shop:{SECRET}\n",
        f"spec:\n  password:\n    {SECRET}\n  other: 1",
        f'{{\n  "password":\n    "{SECRET}",\n  "x": 1\n}}',
        f"apiKey:\r\n  '{SECRET}'\r\n",
        f'could not log in user=x pass: "{SECRET}"',
        f"run docker login -u shop -p {SECRET} registry.example.com",
        f'level=info msg="login" password="{SECRET}"',
        f"2026-11-01T12:00:00Z login with password: {SECRET} failed",
        f"  password: {SECRET}",
        f"password: first {SECRET} words",
        f"spec:\n  password: |\n    {SECRET}\n    more\n  other: 1",
        f'{{"password":"{SECRET}","user":"shop"}}',
        f'{{\\"password\\":\\"{SECRET}\\"}}',
        f'{{"password": "a\\"{SECRET}"}}',
        f"DB_PASSWORD:='{SECRET}'",
        f"<password>{SECRET}</password>",
        f"--password={SECRET} --v=4",
        f"--password {SECRET} --v=4",
        f"--token '{SECRET}'",
        f"token={SECRET}",
        f"token: {SECRET}",
        f'"token": "{SECRET}"',
        f"got token: {SECRET}",
        f"Authorization: Bearer {SECRET}",
        f"Authorization: Basic {PAIR}",
        f"> authorization: token {SECRET}",
        f"Proxy-Authorization: Basic {PAIR}",
        f"curl -H 'X-Api-Key: {SECRET}' https://example.com",
        f"Set-Cookie: session={SECRET}; Path=/",
        f"header is Bearer {SECRET}",
        f"header is Basic {PAIR}",
        f"jwt {JWT}",
        f"export AWS_SECRET_ACCESS_KEY={SECRET}",
        f"aws_access_key_id = {SECRET}",
        f"api key: {SECRET}123",
        f"client_secret={SECRET}&grant_type=x",
        f"Server=db;User Id=sa;Password={SECRET};Database=x",
        f"AccountName=shop;AccountKey={SECRET}==;EndpointSuffix=core",
        f"connectionString: Host=db Pwd={SECRET}",
        f"https://shop:{SECRET}@example.com:8443/path",
        f"https://{SECRET}@example.com/path",
        f"postgres://shop:{SECRET}/x@y@db:5432/shop",
        f"redis://:#{SECRET}@cache:6379/0",
        f"https://example.com/blob?sig={SECRET}&se=2026",
        f"https://example.com/blob#access={SECRET}",
        f'Get "https://example.com/x?key={SECRET}": dial tcp',
        f"shop:{SECRET}@tcp(db:3306)/shop",
        f"mysql -u root -p{SECRET} -h db",
        f"curl -sS -u admin:{SECRET} https://example.com",
        f"sshpass -p {SECRET} ssh host",
        f"redis-cli -a {SECRET} ping",
        f'the token "{SECRET}" was rejected',
        f"login failed for user shop with password '{SECRET}'",
        f"machine db.example.com login shop password {SECRET}",
        f"access_token%3D{SECRET}%26x%3D1",
        f"env:\n- name: DB_PASSWORD\n  value: {SECRET}\n- name: B",
        f'env: [{{"name":"DB_PASSWORD","value":"{SECRET}"}}]',
        f'{{\\"name\\": \\"DB_PASSWORD\\", \\"value\\": \\"{SECRET}\\"}}',
        f"EnvVar{{Name:DB_PASSWORD,Value:{SECRET},ValueFrom:nil,}}",
        f"{{Name:DB_PASSWORD Value:{SECRET} ValueFrom:<nil>}}",
        f"https://hooks.slack.com/services/T01ABCDEF/B01ABCDEF/{SECRET}",
        "AKIAABCDEFGHIJKLMN12",
        "ghp_" + "A1b2" * 9,
        "glpat-" + "A1b2" * 5,
        "xoxb-12345678901-abcdefghij",
        "hf_" + "A1b2" * 8,
        "sk-" + "A1b2" * 12,
        "sk-proj-" + "A1b2_" * 6,
        "nvapi-" + "A1b2" * 12,
        "sha256~" + "A1b2" * 11,
        f"runtime_env:\n  env_vars:\n    A: {SECRET}\nnext: 1",
        f'ray job submit --runtime-env-json=\'{{"env_vars": {{"A": "{SECRET}"}}}}\' -- x',
        f"apiVersion: v1\nkind: Config\nusers:\n- user:\n    client-key-data: {SECRET}\n    token: {SECRET}",
        f'auths: {{"example.com": {{"auth":"{PAIR}"}}}}',
        base64.b64encode(f'{{"auths":{{"example.com":{{"auth":"{PAIR}"}}}}}}'.encode()).decode(),
        PEM,
        PEM.replace("\n", "\\n"),
        PEM.replace("\n", "\n2026-11-01T12:00:00Z stderr F "),
        PEM.split("-----END", maxsplit=1)[0],
    ],
)
def test_a_secret_is_masked(text: str) -> None:
    masked = mask_text(text)
    assert "[masked:" in masked or "://" in text
    for piece in (SECRET, "hunter2", PAIR, JWT, "A1b2A1b2", "KLMN12", "abcdefghij", "MIIE"):
        if piece in text:
            assert piece not in masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "",
        'secret "registry-pull" not found',
        "couldn't find key password in Secret shop/db",
        'MountVolume.SetUp failed for volume "tls" : secret "web-tls" not found',
        "failed to fetch token: rpc error: code = Unavailable",
        "invalid bearer token, Token has expired",
        "wrong password: authentication failed",
        "Bearer authentication is required; basic authentication too",
        '"Caches populated" type="*v1.Secret" secret="shop/web-tls"',
        "missing secrets: etcd-client-0,kubelet-client-0,node-kubeconfigs-0",
        "--max-num-batched-tokens 4096 --max-tokens=100 --tokenizer shop/llama",
        "TOKENIZERS_PARALLELISM=false",
        "--tls-private-key-file=/etc/tls/private/tls.key",
        "--token-file /var/run/secrets/tokens/vault",
        "imagePullSecrets: [registry-pull]",
        'the token "kueue.x-k8s.io/v1beta1" is unknown',
        "password authentication failed",
        "--cert=/etc/access.token --service-cluster-ip-range=172.30.0.0/16",
        "token%3D%22%24(cat%20/etc/token)",
        "password shop-db-credentials-v2 is mounted",
        'keys ["name":"token","value":""]',
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      key: password\n      name: db",
        "- name: DB_PASSWORD\n  value: $(OTHER)",
        "EnvVar{Name:DB_PASSWORD,Value:,ValueFrom:&EnvVarSource{},}",
        "quay.io/shop/web@sha256:" + "0a" * 32,
        "cri-o://" + "0a" * 32,
        "docker://quay.io/shop/web@sha256:" + "0a" * 32,
        "docker://web@sha256:" + "0a" * 32,
        "https://example.com:8443/api/v1/namespaces/shop/pods",
        "http://[fd00::1]:10250/metrics",
        "pod shop/web-7c9d8f6b5-x2x9z uid 0b0f6a5e-6d0e-4f0e-9d0c-111111111111 resourceVersion 123456",
        "task-sk-serving-7c9d8f6b5 on disk-pressure",
        'Post "https://10.0.0.1:6443/api/v1/namespaces/shop/serviceaccounts/web/token": read tcp 10.0.0.2:1->10.0.0.1:6443',
        "TOKEN=$(cat /var/run/secrets/kubernetes.io/serviceaccount/token)",
        "password: ***HIDDEN***",
        "token: REDACTED",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "key: node.kubernetes.io/not-ready",
        "authorization.k8s.io/v1 SubjectAccessReview",
        "authorization mode: Node,RBAC",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC shop",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_text(text) == text


def test_urls_keep_scheme_host_port_and_path() -> None:
    text = "see (https://shop:pw@example.com:8443/a/b?x=1#y), then grpc://h:1/z?q."
    assert mask_text(text) == "see (https://example.com:8443/a/b), then grpc://h:1/z."


def test_the_rest_of_a_line_stays() -> None:
    masked = mask_text(f"login user=shop password={SECRET}, host=db took 3 ms")
    assert re.fullmatch(r"login user=shop password=\[masked:password:[0-9a-f]{10}\], host=db took 3 ms", masked)


def test_a_key_that_begins_above_the_tail_of_a_log() -> None:
    line = "TUlJRXBBSUJBQUtDQVFFQWh1bnRlcjJodW50ZXIyaHVudGVyMmh1bnRlcjJodW50ZXI="
    masked = mask_text(f"{line}\n{line}\n-----END PRIVATE KEY-----\nready")
    assert line not in masked
    assert masked.endswith("\nready")


def test_the_same_secret_has_the_same_placeholder() -> None:
    one = mask_text(f"password={SECRET}").removeprefix("password=")
    two = mask_text(f'x "password": "{SECRET}" y')
    other = mask_text("password=another1").removeprefix("password=")
    assert one in two
    assert one != other
    assert is_masked(one)


def test_a_placeholder_depends_on_the_key_of_the_run() -> None:
    configure(b"a" * 32)
    one = placeholder("password", SECRET)
    configure(b"b" * 32)
    two = placeholder("password", SECRET)
    configure(b"a" * 32)
    assert one == placeholder("password", SECRET) != two
    with pytest.raises(ValueError, match="16 to 64"):
        configure(b"short")


@pytest.mark.parametrize(
    "piece",
    [
        "password",
        "password=",
        "password='",
        'password="',
        "password: ",
        "token",
        "eyJ",
        "eyJhbGci.",
        "sk-",
        "hf_",
        "://",
        "://a@",
        "://a:b@?",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----\n",
        "A" * 64 + "\n",
        "bearer ",
        "basic ",
        "curl -u ",
        "mysql -p",
        "x:y@tcp(",
        "<password>",
        "password: |\n  ",
        "runtime_env:\n ",
        '\\\\\\\\\\\\\\\\"',
        "--token ",
        "Authorization: ",
        "[masked:",
        "key",
        "secret\n",
        "token ",
        "name: token\n  value: ",
        'token"   ',
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    start = time.process_time()
    mask_text(text)
    assert time.process_time() - start < 5


_PIECES = [
    "password",
    "token",
    ":",
    "=",
    " ",
    "\n",
    '"',
    "'",
    "\\",
    "{",
    "}",
    "://",
    "@",
    "?",
    "#",
    "a1",
    "eyJ",
    ".",
    "-----BEGIN PRIVATE KEY-----",
]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "password",
                "token",
                ":",
                "=",
                " ",
                "\n",
                '"',
                "'",
                "\\",
                "{",
                "}",
                "://",
                "@",
                "?",
                "#",
                "a1",
                "eyJ",
                ".",
                "-----BEGIN PRIVATE KEY-----",
            ]
        )
        | st.text(max_size=3),
        max_size=20,
    )
)
def test_masking_never_fails_and_is_stable(pieces: list[str]) -> None:
    once = mask_text("".join(pieces))
    twice = mask_text(once)
    assert mask_text(twice) == twice
