"""Names that announce a secret, and names that only look like it."""

from __future__ import annotations

import pytest

from analyzer.redact.names import is_harmless, judge


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("PASSWORD", "password"),
        ("DB_PASSWD", "password"),
        ("dbPassword", "password"),
        ("--mysql-root-password", "password"),
        ("SMTP_PASS", "password"),
        ("SMTP_PW", "password"),
        ("client_configuration_token.tok", "token"),
        ("SSH_KEY", "key"),
        ("SUBSCRIPTION_ACTIVATIONKEY", "key"),
        ("REDIS_AUTH", "password"),
        ("SECRET_ACCESS", "secret"),
        ("PGPASSWORD", "password"),
        ("passwordHash", "password"),
        ("password2", "password"),
        ("HF_TOKEN", "token"),
        ("HUGGING_FACE_HUB_TOKEN", "token"),
        ("authtoken", "token"),
        ("api_tokens", "token"),
        ("OPENAI_API_KEY", "key"),
        ("--wandb-key", "key"),
        ("HF_KEY", "key"),
        ("apiKey", "key"),
        ("APIKey", "key"),
        ("X-Api-Key", "key"),
        ("AWS_SECRET_ACCESS_KEY", "key"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("client-key-data", "key"),
        ("PRIVATE_KEY", "key"),
        ("secretkey", "key"),
        ("clientSecret", "secret"),
        ("COOKIE_SECRET", "secret"),
        ("pullSecret", "named"),
        ("CREDENTIALS", "named"),
        ("connectionString", "connection"),
        ("DATABASE_DSN", "connection"),
        ("Authorization", "authorization"),
        ("Proxy-Authorization", "authorization"),
        ("runtimeEnvYAML", "runtime-env"),
        ("runtime_env", "runtime-env"),
        (".dockerconfigjson", "docker-config"),
    ],
)
def test_names_that_announce_a_secret(name: str, kind: str) -> None:
    assert judge(name) == kind


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "--max-num-batched-tokens",
        "maxToken",
        "tokenizer",
        "TOKENIZERS_PARALLELISM",
        "eos_token",
        "nextToken",
        "secretName",
        "tokenSecretRef",
        "secretKeyRef",
        "tokenExpirationSeconds",
        "passwordPolicy",
        "key",
        "topologyKey",
        "publicKey",
        "primaryKey",
        "GOOGLE_APPLICATION_CREDENTIALS_FILE",
        "token_file",
        "PWD",
        "OLDPWD",
        "passthrough",
        "bypass",
        "authorizationMode",
        "monkey",
        "",
        "_",
    ],
)
def test_names_that_do_not(name: str) -> None:
    assert judge(name) == ""


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("password", ""),
        ("password", "$(DB_PASSWORD)"),
        ("password", "${DB_PASSWORD}"),
        ("password", "***HIDDEN***"),
        ("password", "REDACTED"),
        ("token", "/var/run/secrets/tokens/vault-token"),
        ("token", "true"),
        ("token", "4096"),
        ("named", "my-tls-secret"),
        ("named", "shop/registry-pull"),
        ("named", "etcd-client-0,kubelet-client-0"),
        ("key", "/etc/ssl/private.pem"),
        ("connection", "https://example.com/x"),
        ("cookie", "sticky"),
    ],
)
def test_values_that_are_no_secret(kind: str, value: str) -> None:
    assert is_harmless(kind, value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("password", "/etc/hunter"),
        ("password", "12345678"),
        ("token", "123456789012"),
        ("named", "hunter2"),
        ("named", "0b0f6a5e-6d0e-4f0e-9d0c-111111111111"),
        ("named", "Tr0ub4dor&3"),
        ("key", "/9j4AAQ+SkZJRg/x"),
        ("connection", "Server=db;Password=x"),
        ("password", "x" * 5000),
    ],
)
def test_values_that_may_be(kind: str, value: str) -> None:
    assert not is_harmless(kind, value)
