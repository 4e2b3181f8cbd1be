"""Secrets in objects and documents: each kind of secret in each place, and what must stay."""

from __future__ import annotations

import base64
import copy
import gzip
import json
from typing import Any
from urllib.parse import quote, unquote

import orjson
import pytest

from analyzer.redact import mask_document, mask_object
from analyzer.redact.signs import needles

SECRET = "Xq7hunter2Zz"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzaG9wIn0.c2lnbmF0dXJlLW9mLWEtand0"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7hunter2\nbm90IGEga2V5\n-----END PRIVATE KEY-----\n"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIU\nbm90IGEgY2VydA==\n-----END CERTIFICATE-----\n"


def b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


DOCKER = json.dumps({"auths": {"registry.example.com": {"auth": b64(f"shop:{SECRET}"), "email": "shop@example.com"}}})
KUBECONFIG = (
    f"apiVersion: v1\nkind: Config\nusers:\n- name: shop\n  user:\n    token: {SECRET}\n    client-key-data: {b64(SECRET)}\n"
)


def pod(**container: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-7c9d8f6b5-x2x9z", "namespace": "shop", "uid": "0b0f6a5e-6d0e-4f0e-9d0c-111111111111"},
        "spec": {"containers": [{"name": "web", "image": "quay.io/shop/web:1"} | container]},
    }


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": data}


def annotated(**annotations: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "annotations": annotations}}


PLANTED: dict[str, dict[str, Any]] = {
    "Secret data": {"kind": "Secret", "data": {"password": b64(SECRET)}},
    "Secret data that is no base64": {"kind": "Secret", "data": {"password": SECRET}},
    "Secret stringData": {"kind": "Secret", "stringData": {"plain": SECRET}},
    "Secret data that is no mapping": {"kind": "Secret", "data": [SECRET]},
    "Secret number": {"kind": "Secret", "stringData": {"pin": 1234567}},
    "Secret with a key under a certificate's name": {"kind": "Secret", "data": {"tls.crt": b64(CERTIFICATE + PEM)}},
    "Secret in another object": {"kind": "Work", "spec": {"manifests": [{"kind": "Secret", "data": {"a": b64(SECRET)}}]}},
    "Secret in a SecretList": {"kind": "SecretList", "items": [{"data": {"a": b64(SECRET)}}]},
    "a short option of a command": pod(command=["redis-cli", "-h", "cache", "-a", SECRET, "ping"]),
    "a short option with its value": pod(command=["/usr/bin/mysql", "-uroot"], args=[], lifecycle=["mysql", f"-p{SECRET}"]),
    "user and password of a command": pod(args=["curl", "-sS", "-u", f"shop:{SECRET}", "https://example.com"]),
    "env": pod(env=[{"name": "DB_PASSWORD", "value": SECRET}]),
    "env with a URL": pod(env=[{"name": "DATABASE_URL", "value": f"postgres://shop:{SECRET}@db/shop"}]),
    "env with a connection string": pod(env=[{"name": "DB_DSN", "value": f"shop:{SECRET}@tcp(db:3306)/shop"}]),
    "env with a hub token": pod(env=[{"name": "X", "value": "hf_" + "A1b2" * 8}]),
    "argument": pod(args=["serve", f"--api-key={SECRET}"]),
    "argument after its flag": pod(args=["--token", SECRET, "--v=4"]),
    "command in a shell": pod(command=["sh", "-c", f"login --password {SECRET} && serve"]),
    "argument with a header": pod(args=["curl", "-H", f"Authorization: Bearer {SECRET}"]),
    "probe header": pod(livenessProbe={"httpGet": {"httpHeaders": [{"name": "Authorization", "value": f"Bearer {SECRET}"}]}}),
    "annotation": annotated(**{"example.com/api-token": SECRET}),
    "annotation with JSON": annotated(note=json.dumps({"password": SECRET})),
    "last applied": annotated(**{"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"a": SECRET})}),
    "config map key": config_map(password=SECRET),
    "config map with a kubeconfig": config_map(kubeconfig=KUBECONFIG),
    "config map with a docker config": config_map(config=DOCKER),
    "config map with a private key": config_map(ca=CERTIFICATE + PEM),
    "config map with JSON in JSON": config_map(x=json.dumps({"y": json.dumps({"token": SECRET})})),
    "config map with a jwt": config_map(x=f"use {JWT}"),
    "config map binary": {"kind": "ConfigMap", "binaryData": {"x": b64(f"password={SECRET}")}},
    "config map binary gzip": {"kind": "ConfigMap", "binaryData": {"x": b64(gzip.compress(f"password={SECRET}".encode()))}},
    "config map keystore": {"kind": "ConfigMap", "binaryData": {"store.jks": b64(b"\xfe\xed" + SECRET.encode())}},
    "event message": {"kind": "Event", "message": f'Get "https://shop:{SECRET}@example.com/x?y": EOF'},
    "status message": {"kind": "Pod", "status": {"conditions": [{"message": f"bad password={SECRET}"}]}},
    "field": {"kind": "Database", "spec": {"adminPassword": SECRET}},
    "field that is a number": {"kind": "Database", "spec": {"adminPassword": 71234567}},
    "field with a value inside": {"kind": "Database", "spec": {"password": {"value": SECRET}}},
    "field that is a list": {"kind": "Database", "spec": {"apiKeys": [SECRET]}},
    "field with a client secret": {"kind": "Login", "clientSecret": {"value": SECRET}},
    "ray runtime env": {"kind": "RayJob", "spec": {"runtimeEnvYAML": f"env_vars:\n  A: {SECRET}\n"}},
    "ray serve config": {
        "kind": "RayService",
        "spec": {"serveConfigV2": f"a:\n- runtime_env:\n    env_vars:\n      A: {SECRET}\n  b: 1\n"},
    },
    "ray runtime env mapping": {"kind": "RayJob", "spec": {"runtime_env": {"env_vars": {"A": SECRET}}}},
    "ignition file": {"kind": "MachineConfig", "source": "data:," + quote(DOCKER)},
    "ignition file base64": {"kind": "MachineConfig", "source": "data:text/plain;base64," + b64(f"password={SECRET}")},
    "a secret's kind in odd letters": {"apiVersion": "v1", "kind": "secret", "data": {"x": b64(SECRET)}},
    "sealed secret's template": {"kind": "SealedSecret", "spec": {"template": {"stringData": {"x": SECRET}}}},
    "sealed secret's template in a list": {
        "kind": "List",
        "items": [{"kind": "SealedSecret", "spec": {"template": {"data": {"x": SECRET}}}}],
    },
    "env with a personal access token": pod(env=[{"name": "AZURE_PAT", "value": f"{SECRET}{SECRET}"}]),
    "env of libpq": pod(env=[{"name": "PGPASS", "value": SECRET}]),
    "docker login, joined": pod(command=["/usr/bin/docker", "login", "-u", "shop", f"-p{SECRET}", "registry.example.com"]),
    "docker login, apart": pod(command=["podman", "login", "-u", "shop", "-p", SECRET]),
    "pgpass file": config_map(**{".pgpass": f"db.example.com:5432:shop:shop:{SECRET}\n"}),
    "pgpass file under another name": config_map(init=f"# who\ndb.example.com:5432:*:shop:{SECRET}\n"),
    "base64 under a neutral name": config_map(blob=b64(f"a: 1\npassword={SECRET}\n")),
    "base64 in capitals": config_map(blob=b64(f"export A=1\nexport DB_PASSWORD={SECRET}\n")),
    "base64 of cloud-init": {"kind": "VirtualMachine", "userDataBase64": b64(f"#cloud-config\npassword: {SECRET}\n")},
    "base64 of JSON": pod(env=[{"name": "SETTINGS", "value": b64(json.dumps({"x": {"token": SECRET}}))}]),
    "password hash": {"kind": "MachineConfig", "users": [{"name": "core", "passwordHash": f"$6$rounds$abc{SECRET}"}]},
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_secret_is_masked(name: str) -> None:
    planted = copy.deepcopy(PLANTED[name])
    before = orjson.dumps(planted).decode()
    masked = orjson.dumps(mask_object(copy.deepcopy(planted))).decode()
    for text in (masked, unquote(masked)):
        for piece in (
            SECRET,
            b64(SECRET),
            b64(f"shop:{SECRET}"),
            b64(f"password={SECRET}"),
            "hunter2",
            JWT,
            "A1b2A1b2",
            "1234567",
        ):
            assert piece not in text, piece
    assert masked != before
    again = orjson.loads(masked)
    assert mask_object(copy.deepcopy(again)) == again


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_secret_shows_a_sign(name: str) -> None:
    planted = PLANTED[name]
    assert needles(orjson.dumps(planted)) or planted["kind"] in {"Secret", "SecretList"}


CLEAN: list[dict[str, Any]] = [
    pod(
        env=[
            {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
            {"name": "TOKENIZERS_PARALLELISM", "value": "false"},
            {"name": "MAX_TOKENS", "value": "4096"},
            {"name": "TOKEN", "value": "$(HF_TOKEN)"},
            {"name": "TOKEN_PATH", "value": "/var/run/secrets/tokens/hub"},
        ],
        args=["--max-num-batched-tokens=4096", "--tokenizer", "shop/llama", "--tls-private-key-file=/etc/tls/tls.key"],
        volumeMounts=[{"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
    ),
    {
        "kind": "Pod",
        "metadata": {"resourceVersion": "123456", "uid": "0b0f6a5e-6d0e-4f0e-9d0c-111111111111"},
        "spec": {
            "imagePullSecrets": [{"name": "registry-pull"}],
            "automountServiceAccountToken": True,
            "volumes": [
                {"name": "tls", "secret": {"secretName": "web-tls"}},
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]}},
            ],
        },
        "status": {
            "containerStatuses": [{"imageID": "quay.io/shop/web@sha256:" + "0a" * 32, "containerID": "cri-o://" + "0b" * 32}]
        },
    },
    {"kind": "ServiceAccount", "secrets": [{"name": "web-token-abc12"}], "imagePullSecrets": [{"name": "web-dockercfg-abc12"}]},
    {"kind": "ValidatingWebhookConfiguration", "webhooks": [{"clientConfig": {"caBundle": b64(CERTIFICATE)}}]},
    {"kind": "ClusterRole", "rules": [{"resources": ["secrets", "tokenreviews"], "apiGroups": ["authorization.k8s.io"]}]},
    {"kind": "Secret", "type": "kubernetes.io/tls", "data": {"tls.crt": b64(CERTIFICATE), "ca.crt": b64(CERTIFICATE * 2)}},
    {"kind": "Secret", "data": {"password": b64("12 bytes long"), "other": "***HIDDEN***", "none": None, "empty": ""}},
    {"kind": "Secret", "data": None},
    {"kind": "ConfigMap", "data": {"ca-bundle.crt": CERTIFICATE, "config.yaml": "max_tokens: 5\nsecretName: web-tls\n"}},
    {"kind": "ConfigMap", "binaryData": {"x": b64(b"\x00\x01\x02"), "y": b64("plain text")}},
    {
        "kind": "MachineConfig",
        "source": "data:,hello%20world",
        "passwd": {"users": [{"sshAuthorizedKeys": ["ssh-ed25519 AAAAC3Nz x"]}]},
    },
    {"kind": "Event", "message": 'MountVolume.SetUp failed for volume "tls" : secret "web-tls" not found'},
    {"kind": "Certificate", "spec": {"secretName": "web-tls", "privateKey": {"rotationPolicy": "Always"}}},
    {"kind": "Issuer", "spec": {"tokenSecretRef": {"name": "dns", "key": "token"}, "pullSecret": "registry-pull"}},
    {
        "kind": "CustomResourceDefinition",
        "schema": {"properties": {"password": {"type": "string", "description": "The password."}}},
    },
    annotated(**{"kubectl.kubernetes.io/last-applied-configuration": "", "example.com/tls-secret": "web-tls"}),
]


@pytest.mark.parametrize("value", CLEAN, ids=lambda value: value["kind"])
def test_what_is_no_secret_stays(value: dict[str, Any]) -> None:
    assert mask_object(copy.deepcopy(value)) == value


def test_keys_and_lengths_of_a_secret_stay() -> None:
    secret = mask_object({"kind": "Secret", "data": {"user": b64("shop"), "password": b64(SECRET)}})
    assert list(secret["data"]) == ["user", "password"]
    assert secret["data"]["user"].endswith(":4 bytes]")
    assert secret["data"]["password"].endswith(f":{len(SECRET)} bytes]")


def test_the_same_secret_has_the_same_digest_everywhere() -> None:
    secret = mask_object({"kind": "Secret", "data": {"password": b64(SECRET)}})["data"]["password"]
    env = mask_object(pod(env=[{"name": "DB_PASSWORD", "value": SECRET}]))["spec"]["containers"][0]["env"][0]["value"]
    assert secret.split(":")[2] == env.split(":")[2].rstrip("]")


def test_only_the_secret_of_a_file_is_masked() -> None:
    source = "data:," + quote(f"#!/bin/sh\nexport PASSWORD={SECRET}\nserve\n")
    masked = unquote(mask_object({"kind": "MachineConfig", "source": source})["source"])
    assert masked.startswith("data:,#!/bin/sh\nexport PASSWORD=[masked:")
    assert masked.endswith("\nserve\n")


def test_json_in_a_string_stays_json() -> None:
    note = mask_object(annotated(note=json.dumps({"password": SECRET, "port": 8080})))["metadata"]["annotations"]["note"]
    assert json.loads(note)["port"] == 8080
    assert SECRET not in note


def test_strange_values_do_not_fail() -> None:
    deep: dict[str, Any] = {"password": SECRET}
    for _ in range(5000):
        deep = {"a": [deep]}
    value: dict[Any, Any] = {
        "kind": "Secret",
        "data": {"a": 1 << 70},
        "x": float("nan"),
        5: {"token": "Abc123Abc123"},
        "y": "\ud800password=Abc1",
        "deep": deep,
    }
    mask_object(value)
    assert "Abc1" not in repr([value[key] for key in (5, "y", "data")])
    while "a" in deep:
        deep = deep["a"][0]
    assert deep["password"].startswith("[masked:password:")


def test_documents() -> None:
    assert SECRET not in orjson.dumps(mask_document([{"generatorURL": f"https://x/g?token={SECRET}"}], "alerts")).decode()
    assert SECRET not in mask_document(f"password={SECRET}", "note")
    assert mask_document(5, "note") == 5
    secret = mask_document({"name": "db", "key": "a", "value": SECRET}, "secret")
    assert secret["name"] == "db"
    assert SECRET not in secret["value"]
