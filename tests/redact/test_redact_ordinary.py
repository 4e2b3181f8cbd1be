"""Lines that every cluster is full of and that hold no secret: names of Secrets, keys, tokens of models, errors."""

from __future__ import annotations

import pytest

from analyzer.redact import mask_text

ORDINARY = r"""
I1120 10:11:12.123456       1 reflector.go:351] Caches populated for *v1.Secret from object-"shop"/"db-credentials"
E1120 10:11:12.123456    1234 pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \"StartContainer\" for \"web\"
Warning  FailedMount  MountVolume.SetUp failed for volume "kube-api-access-x2x9z" : failed to fetch token: serviceaccounts
MountVolume.SetUp failed for volume "tls" : secret "web-tls" not found
Error: couldn't find key password in Secret shop/db-credentials
INFO 11-20 10:11:12 config.py:1234] Chunked prefill is enabled with max_num_batched_tokens=8192.
INFO 11-20 10:11:12 metrics.py:349] Avg prompt throughput: 10.3 tokens/s, Avg generation throughput: 45.1 tokens/s, Running: 2
vllm serve meta-llama/Llama-3-8B --max-num-batched-tokens 8192 --tokenizer /models/llama --tokenizer-mode auto --max-model-len
--max-num-batched-tokens=8192 --tokenizer=/mnt/models --served-model-name=llama
tokenizer: /mnt/models/tokenizer.json
eos_token: </s>
pad_token_id: 128009
special_tokens_map.json
bos_token_id=128000 eos_token_id=128009
INFO: Using tokenizer mistralai/Mistral-7B-Instruct-v0.3
total_tokens: 123456789
"usage":{"prompt_tokens":12,"total_tokens":123456,"completion_tokens":77}
max_tokens: 4096
token_type: bearer
NCCL INFO Bootstrap : Using eth0:10.128.0.5<0>
NCCL INFO comm 0x7f8a4c000b60 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 4e000 commId 0x3f0f6a5e6d0e4f0e - Init START
NCCL WARN NET/IB : Got completion from peer 10.1.2.3<47568> with status=12 opcode=0 len=0 vendor err 129
imagePullSecrets: [{name: regcred}]
secretName: web-tls-7c9d8f6b5
secretRef: db-credentials
tokenSecretRef: hf-token
partition key: zone
sort key=name
cache key: 7c9d8f6b5x2x9z
key: nvidia.com/gpu
topologyKey: kubernetes.io/hostname
label key "app.kubernetes.io/name"
node(s) had untolerated taint {nvidia.com/gpu: present}
publicKey: ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ
keyFile: /etc/kubernetes/pki/apiserver.key
--tls-private-key-file=/etc/kubernetes/pki/apiserver.key
--service-account-key-file=/etc/kubernetes/pki/sa.pub
--service-account-signing-key-file=/etc/kubernetes/pki/sa.key
--authorization-mode=Node,RBAC
--bootstrap-token-auth=true
--kubeconfig=/etc/kubernetes/kubelet.conf
authentication.kubernetes.io/legacy-token-last-used
kubernetes.io/service-account-token
x509: certificate has expired or is not yet valid: current time 2026-11-20T10:11:12Z is after 2026-11-19T00:00:00Z
Unable to authenticate the request: invalid bearer token
Unauthorized: token expired at 2026-11-20T10:11:12Z
failed to get token: 403 Forbidden
password authentication failed for user "shop"
FATAL:  password authentication failed for user "postgres"
Access denied for user 'shop'@'10.128.0.5' (using password: YES)
pq: password authentication failed for user shop
Permission denied (publickey,password).
login attempt failed for user shop
secret/db-credentials created
Successfully rotated secret shop/db-credentials version 3
"Secret" "shop/db-credentials" not found
SecretProviderClass: vault-db
refreshing credentials for role arn:aws:iam::123456789012:role/web
Waiting for credentials to be ready
CredentialsRequest openshift-image-registry provisioned
cookie: none
digest: sha256:9c20d1e7b3a54f68c1e0a7d4b92f3c5e8d6a1b0f4e7c2d9a8b5f6e3c0d1a2b4c
image: nvcr.io/nvidia/gpu-operator@sha256:9c20d1e7b3a54f68c1e0a7d4b92f3c5e8d6a1b0f4e7c2d9a8b5f6e3c0d1a2b4c
GPU-8d31c7f0-52ab-4e96-b7d8-0c1e94a6f325
UUID=GPU-8d31c7f0-52ab-4e96-b7d8-0c1e94a6f325 Xid=79
pod-template-hash: 7c9d8f6b5
controller-revision-hash=6d5f7c9b8
etcdserver: request timed out, key: /registry/pods/shop/web-0
"Lock acquired" key="kube-system/kube-scheduler"
workqueue key=shop/web-0 err="not found"
Reconciling {"controller": "job", "namespace": "shop", "name": "train", "reconcileID": "0b0f6a5e-6d0e-4f0e-9d0c-111111111111"}
processing item key="gpu-operator/nvidia-driver-daemonset-7c9d8"
Object "key" must be a string
KeyError: 'model'
unexpected key "lora_r" in state dict
foreign key constraint fails
passed: 12, failed: 0
bypass: true
compass: 3
pass: 1/3
pass 2 of 3 completed
author: jane
authority: 10.0.0.1:443
oauth2-proxy listening on 4180
auth: enabled
auth=none
auth: tls
http request auth middleware enabled
Negotiated authentication "none"
pattern: *.txt
GIT_PATTERN=*.yaml
_path=/var/lib
SEARCH_PATH=/usr/bin:/bin
FILE_PAT=*.log
db.example.com:5432
dial tcp 10.128.0.5:5432: connect: connection refused
tcp://db.example.com:5432: connection refused
listening on 0.0.0.0:5432: ok
10.0.0.1:5432:10.0.0.2:41234:established
server.go:123:main:web:started
docker login succeeded
docker login --username shop --password-stdin quay.io
oc login https://api.example.com:6443
oc login -h
az login --identity
user login -p
podman login --get-login quay.io
secret:
  name: db-credentials
token:
    type: string
password:
  valueFrom:
    secretKeyRef:
key:
  nvidia.com/gpu
passwordSecretRef:
  name: db
apiKey:
  secretName: x
runtime: nvidia
runtimeClassName: nvidia
runtime env setup failed
Failed to load tokenizer: OSError
You are trying to access a gated repo. Access to model meta-llama/Llama-3-8B is restricted and you are not in the authorized
huggingface_hub.utils._errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-6740a1b2-3c4d5e6f7a8b9c0d1e2f3a4b;0b0f6a5e)
Rotating service account token for shop/default
serviceAccountToken:
    expirationSeconds: 3607
    path: token
webhook secret is rotated
certificate key pair generated
Generated key /etc/kubernetes/pki/ca.key
csr-8x2kz approved
MCS access key count: 2
keys: 3
credsStore: ecr-login
"""


def _texts() -> list[str]:
    """The lines, those that are indented with the line above them."""
    texts: list[str] = []
    for line in ORDINARY.strip("\n").split("\n"):
        if line.startswith(" ") and texts:
            texts[-1] += f"\n{line}"
        else:
            texts.append(line)
    return texts


@pytest.mark.parametrize("text", _texts())
def test_an_ordinary_line_stays_as_it_is(text: str) -> None:
    assert mask_text(text) == text


def test_ordinary_lines_stay_as_they_are_together() -> None:
    assert mask_text(ORDINARY) == ORDINARY
