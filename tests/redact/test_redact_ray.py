"""Masking of what Ray's objects hold in ways of their own: Serve configs, entrypoints, users of Redis."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.redact import mask_object
from analyzer.redact.ray import MAX_TEXT, mask_entrypoint, mask_serve_config, secret_name

CONFIG = """
applications:
- name: fins  # the old password was kelp-forest-9
  import_path: dive.fins:app
  runtime_env:
    env_vars: {DEPTH: thirty-metres}
  args:
    hf_auth: coral-reef
    max_tokens: 500
    tokenizer: lab/words
    signing: {key: deep-blue}
    model: https://diver:bubbles@host.example/m?sig=abcdef#top
    env_vars:
      PLAIN: seahorse
      NUMBER: 7741907
    extra: ["--api-key", starfish, --speed, "3"]
"""


def test_a_serve_config_keeps_its_keys_and_loses_its_secrets() -> None:
    masked = mask_serve_config(CONFIG)
    for secret in ("kelp", "thirty", "coral", "deep-blue", "diver", "bubbles", "abcdef", "seahorse", "7741907", "starfish"):
        assert secret not in masked
    read = yaml.safe_load(masked)["applications"][0]
    assert read["import_path"] == "dive.fins:app"
    assert (read["args"]["max_tokens"], read["args"]["tokenizer"], read["args"]["model"]) == (
        500,
        "lab/words",
        "https://host.example/m",
    )
    assert list(read["args"]["env_vars"]) == ["PLAIN", "NUMBER"]
    assert mask_serve_config(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "a: [b",
        "a: &x [secretword]\nb: *x",
        "a: b\n---\nc: secretword",
        "[" * 100 + "secretword" + "]" * 100,
        "x: secretword\n" * MAX_TEXT,
    ],
)
def test_what_cannot_be_read_safely_is_masked_whole(text: str) -> None:
    assert mask_serve_config(text).startswith("[masked:serve-config:")


def test_an_empty_config_stays() -> None:
    assert mask_serve_config("") == ""
    assert mask_serve_config("# only a comment") == ""


def test_an_entrypoint_loses_the_values_of_secret_names() -> None:
    text = "SEA_AUTH=kelp python dive.py --auth coral --api-key=deep --depth 30 --max-tokens 5 --tokenizer lab/words PLACE=reef"
    masked = mask_entrypoint(text)
    for secret in ("kelp", "coral", "deep"):
        assert secret not in masked
    assert all(part in masked for part in ("dive.py", "--depth 30", "--max-tokens 5", "--tokenizer lab/words", "PLACE=reef"))
    assert mask_entrypoint(masked) == masked
    assert mask_entrypoint("x" * (MAX_TEXT + 1)).startswith("[masked:")


@pytest.mark.parametrize("name", ["auth", "hf_auth", "key", "apiKey", "HF_TOKEN", "token", "client_secret", "access_key", "pwd"])
def test_names_of_secrets(name: str) -> None:
    assert secret_name(name)


@pytest.mark.parametrize("name", ["max_tokens", "tokenizer", "num_replicas", "route_prefix", "eos_token", "", "author", "monkey"])
def test_names_of_no_secrets(name: str) -> None:
    assert not secret_name(name)


def rayobject(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "ray.io/v1", "kind": kind, "metadata": {"name": "dive"}, "spec": spec}


def test_objects_are_masked_where_only_ray_knows_the_field() -> None:
    service = mask_object(rayobject("RayService", {"serveConfigV2": "a: {env_vars: {DEPTH: thirty}}"}))
    assert "thirty" not in service["spec"]["serveConfigV2"]
    job = mask_object(rayobject("RayJob", {"entrypoint": "python a.py --auth coral", "runtimeEnvYAML": "pip: [coral]\n"}))
    assert "coral" not in str(job["spec"])
    options = {"redisUsername": {"value": "coral"}, "redisPassword": {"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}}
    params = {"redis-username": "coral", "num-cpus": "4"}
    cluster = mask_object(
        rayobject("RayCluster", {"gcsFaultToleranceOptions": options, "headGroupSpec": {"rayStartParams": params}})
    )
    assert "coral" not in str(cluster["spec"])
    assert cluster["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "4"
    assert "'name': 's'" in str(cluster["spec"])


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300))
def test_any_text_ends(text: str) -> None:
    assert isinstance(mask_serve_config(text), str)
    assert isinstance(mask_entrypoint(text), str)
