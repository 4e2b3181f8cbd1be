"""What parts of the GPU Operator, plugins of DRA drivers and programs say: each line is found, and what it means is known."""

from __future__ import annotations

import pytest

from analyzer.bundle.formats.base import Place
from analyzer.bundle.signatures import Scanner, search
from analyzer.engine.pack import load_packs, signatures_of
from analyzer.facts.gpu.stack_words import meanings, near_end, one_version

SCANNER = Scanner(signatures_of(load_packs(())))

LINES = [
    ("gpu/operand-driver-in-use", "nvidia-driver-1", "Could not unload NVIDIA driver kernel modules, driver is in use"),
    ("gpu/operand-driver-uninstall", "nvidia-driver-1", "level=error msg=Failed to uninstall nvidia driver components"),
    ("gpu/operand-kernel", "nvidia-driver-1", "Could not resolve Linux kernel version"),
    ("gpu/operand-kernel", "nvidia-driver-1", "Unable to find kernel headers for 6.8.0"),
    ("gpu/operand-secure-boot", "nvidia-driver-1", "modprobe: ERROR: could not insert 'nvidia': Required key not available"),
    ("gpu/operand-secure-boot", "nvidia-driver-1", "modprobe: ERROR: could not insert 'nvidia_drm': Key was rejected by service"),
    ("gpu/operand-kernel", "nvidia-driver-1", "E: Unable to locate package linux-headers-6.8.0-41-generic"),
    ("gpu/operand-drain", "nvidia-driver-1", "node gpu-1 drain failed"),
    ("gpu/operand-drain", "nvidia-driver-1", "level=fatal msg=failed to drain node: timed out"),
    ("gpu/operand-precompiled", "nvidia-driver-1", "error: Failed to find a precompiled driver for this kernel"),
    ("gpu/operand-precompiled", "nvidia-driver-1", "E: Unable to locate package linux-modules-nvidia-550-server-6.8.0"),
    ("gpu/operand-compiler", "nvidia-driver-1", "gcc-11: error: unrecognized command-line option '-ftrivial'"),
    ("gpu/operand-compiler", "nvidia-driver-1", "*** Failed CC version check. Bailing out! ***"),
    ("gpu/operand-compiler-differs", "nvidia-driver-1", "warning: the compiler differs from the one used to build the kernel"),
    ("gpu/operand-module-format", "nvidia-driver-1", "modprobe: ERROR: could not insert 'nvidia': Exec format error"),
    ("gpu/operand-nouveau", "nvidia-driver-1", "level=error msg=failed to unload nouveau driver: busy"),
    ("gpu/operand-no-gpu", "nvidia-driver-1", "modprobe: ERROR: could not insert 'nvidia': No such device"),
    ("gpu/operand-plugin-placement", "nvidia-device-plugin-1", "Could not determine device placement; Marking it unhealthy"),
    ("gpu/operand-plugin-events", "nvidia-device-plugin-1", "Error waiting for event: e; Marking all devices as unhealthy"),
    ("gpu/operand-plugin-strategy", "nvidia-device-plugin-1", "Invalid configuration detected for mig-strategy=single: e"),
    ("gpu/operand-plugin-no-mig", "nvidia-device-plugin-1", "device GPU-1 has no MIG devices configured"),
    ("gpu/operand-plugin-crashed", "nvidia-device-plugin-1", "server for 'gpu' has repeatedly crashed recently. Quitting"),
    ("gpu/operand-plugin-register", "nvidia-device-plugin-1", "Could not register device plugin: context deadline exceeded"),
    ("gpu/operand-plugin-shared", "nvidia-device-plugin-1", "maximum request size for shared resources is 1; found 2"),
    ("gpu/operand-plugin-unhealthy", "nvidia-device-plugin-1", "'nvidia.com/gpu' device marked unhealthy: GPU-1"),
    ("gpu/operand-plugin-config", "nvidia-device-plugin-1", "Error: specified config a100 does not exist"),
    ("gpu/operand-plugin-unknown", "nvidia-device-plugin-1", "invalid allocation request for 'nvidia.com/gpu': unknown device"),
    ("gpu/operand-nouveau", "nvidia-driver-1", "ERROR: The Nouveau kernel driver is currently in use by your system."),
    ("gpu/operand-validator-pod", "nvidia-operator-validator-1", "gave up waiting for pod nvidia-cuda-validator-1"),
    ("gpu/driver-api-mismatch", "dmesg", "NVRM: API mismatch: the client has the version 550.1, but"),
    ("gpu/driver-too-old", "bake-0", "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4"),
    ("gpu/runtime-init", "bake-0", "nvidia-container-cli: initialization error: driver rpc error: timed out"),
    ("gpu/runtime-cdi", "bake-0", "failed to inject CDI devices: unresolvable CDI devices nvidia.com/gpu=GPU-1"),
    ("gpu/nccl-port", "bake-0", "NCCL WARN NET/IB : mlx5_0:1 Got async event : port error"),
    ("gpu/nccl-port", "bake-0", "NCCL WARN NET/IB : mlx5_0:1 async fatal event on QP (0x1): QP fatal"),
    ("gpu/program-memory", "bake-0", "Failed to allocate: CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
    ("gpu/program-shm", "bake-0", "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a1 (size 9)"),
    ("gpu/operand-no-capacity", "nvidia-operator-validator-1", "GPU resources are not yet discovered by the node, retry: 1"),
    ("gpu/operand-driver-validation", "nvidia-operator-validator-1", "failed to validate the driver, retrying after 5 seconds"),
    ("gpu/operand-dcgm-profiling", "nvidia-dcgm-exporter-1", "the third-party Profiling module returned an unrecoverable error"),
    ("gpu/operand-dcgm", "nvidia-dcgm-exporter-1", "error collecting metrics: e"),
    ("gpu/dra-no-driver", "nvidia-dra-driver-1", "Error: ensureNVML failed: ERROR_LIBRARY_NOT_FOUND"),
    ("gpu/dra-stale-device", "nvidia-dra-driver-1", 'allocatable not found for device "gpu-3"'),
    ("gpu/dra-checkpoint", "nvidia-dra-driver-1", "checkpoint failed checksum verification"),
    ("gpu/dra-namespace", "nvidia-dra-driver-1", "error asserting ComputeDomain's namespace: e"),
    ("gpu/dra-cliques", "nvidia-dra-driver-1", "unexpected number of unique CliqueIDs found on devices"),
    ("gpu/program-memory", "bake-0", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."),
    ("gpu/program-no-device", "bake-0", "RuntimeError: CUDA error: no CUDA-capable device is detected"),
    ("gpu/program-busy", "bake-0", "CUDA error: all CUDA-capable devices are busy or unavailable"),
    ("gpu/program-access", "bake-0", "RuntimeError: CUDA error: an illegal memory access was encountered"),
    ("gpu/program-launch", "bake-0", "RuntimeError: CUDA error: unspecified launch failure"),
    ("gpu/program-shm", "bake-0", "RuntimeError: DataLoader worker (pid 5) is killed by signal: Bus error."),
]  # fmt: skip


def found(pod: str, line: str) -> list[str]:
    hits, _ = search(SCANNER, Place("ns", pod, "c", "current"), "c.log", "plain", f"{line}\n".encode())
    return [hit.signature for hit in hits]


@pytest.mark.parametrize(("signature", "pod", "line"), LINES)
def test_each_line_is_found_and_its_meaning_known(signature: str, pod: str, line: str) -> None:
    assert found(pod, line) == [signature]
    _, meaning = meanings()[signature]
    assert meaning.topic == signature.removeprefix("gpu/").partition("-")[0]
    assert meaning.cause
    assert meaning.remedy


@pytest.mark.parametrize(("line", "end", "near"), [(1, 900, True), (5, 20_000, False), (18_500, 20_000, True), (1, 1, True)])
def test_what_is_near_the_end_of_a_log(line: int, end: int, near: bool) -> None:
    assert near_end(line, end) == near


@pytest.mark.parametrize(
    "line",
    [
        "open /dev/video0: No such device",
        "modprobe: ERROR: could not insert 'wireguard': Required key not available",
        "error collecting metrics: connection refused",
        "specified config a does not exist",
        "failed to inject CDI devices: unresolvable CDI devices lens.example/lens=l-0",
        "NCCL INFO NET/IB : mlx5_0:1 Got async event : port active",
        "NCCL WARN NET/IB : mlx5_0:1 Got async event : client reregistration",
        "NCCL INFO opened /dev/shm/nccl-a1",
        "gave up waiting for pod kettle-0",
        "Port module event: module 1, Cable unplugged",
        "the assertion device-side assert triggered a test",
        "DataLoader worker 3 started",
        "'example.com/fpga' device marked unhealthy: f-1",
    ],
)
def test_other_programs_words_are_not(line: str) -> None:
    assert found("web-0", line) == []


@pytest.mark.parametrize(
    "line",
    [
        "Nouveau driver is loaded, unloading it",
        "Successfully unloaded nouveau driver",
        "-> No precompiled kernel interface was found to match your kernel; one is built",
        "Installing Linux kernel headers...",
        "Draining node gpu-1...",
        "modprobe: ERROR: could not insert 'ipmi_devintf': No such device",
    ],
)
def test_what_a_driver_says_on_its_way_is_not(line: str) -> None:
    assert found("nvidia-driver-1", line) == []


def test_a_compiler_of_another_name_is_not_one_of_another_version() -> None:
    built = "  The kernel was built by: x86_64-linux-gnu-gcc-13 (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0"
    assert one_version(f"{built}\n  You are using:           gcc-13 (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\n  CC [M] nv.o")
    assert not one_version(f"{built}\n  You are using:           cc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0")
    assert not one_version(built)
