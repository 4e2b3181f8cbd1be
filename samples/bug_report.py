"""What `nvidia-bug-report.sh` writes of a host with H100s, as far as the samples need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

DRIVER = "580.95.05"
LINE = "_" * 44


def report(host: str, at: datetime, kernel_log: Sequence[str], gpus: Mapping[str, str], lost: str = "") -> str:
    """The text of a report.

    Args:
        host: the name of the host.
        at: when it was written.
        kernel_log: lines of the journal of this boot, as journalctl prints them.
        gpus: PCI addresses (1B:00.0) → UUIDs.
        lost: the address of a GPU that answers nothing.
    """
    version = (
        "*** /proc/driver/nvidia/./version\n"
        f"*** ls: -r--r--r-- 1 root root 0 {at:%Y-%m-%d %H:%M:%S}.000000000 +0000 /proc/driver/nvidia/./version\n"
        f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {DRIVER}  Release Build  (dvs-builder@U22)\n"
        "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n"
    )
    sections = (
        _head(host, at),
        version,
        "journalctl -b -0:\n\n" + "".join(f"{line}\n" for line in kernel_log),
        '/usr/bin/lspci -d "10de:*" -v -xxx\n\n' + "".join(_lspci(address, address == lost) for address in gpus),
        "/usr/bin/nvidia-smi --query\n\n" + _smi(at, gpus, lost),
    )
    return f"{LINE}\n\n" + f"\n{LINE}\n\n".join(sections)


def _head(host: str, at: datetime) -> str:
    return (
        "Start of NVIDIA bug report log file.  Please include this file, along\n"
        "with a detailed description of your problem, when reporting a graphics\n"
        "driver bug via the NVIDIA Linux forum (see forums.developer.nvidia.com)\n"
        "or by sending email to 'linux-bugs@nvidia.com'.\n\n"
        "nvidia-bug-report.sh Version: 38220147\n\n"
        f"Date: {at:%a %b %d %H:%M:%S} UTC {at:%Y}\n"
        f"uname: Linux {host} 6.8.0-79-generic #79-Ubuntu SMP PREEMPT_DYNAMIC x86_64 x86_64 x86_64 GNU/Linux\n"
        "command line flags: --safe-mode\n"
    )


def _lspci(address: str, lost: bool) -> str:
    if lost:
        return f"{address.lower()} 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev ff) (prog-if ff)\n\t!!! Unknown header type 7f\n\n"
    return (
        f"{address.lower()} 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)\n"
        "\tSubsystem: NVIDIA Corporation Device 16c1\n\tKernel driver in use: nvidia\n\n"
    )


def _smi(at: datetime, gpus: Mapping[str, str], lost: str) -> str:
    """What `nvidia-smi -q` prints. Of a GPU that is lost it has one line in place of a block."""
    said = "".join(
        f"Unable to determine the device handle for GPU{number}: 0000:{address}: GPU is lost.  Reboot the system to recover this GPU\n\n"
        for number, address in enumerate(gpus)
        if address == lost
    )
    blocks = "".join(
        f"GPU 00000000:{address}\n"
        "    Product Name                          : NVIDIA H100 80GB HBM3\n"
        "    Product Brand                         : NVIDIA\n"
        f"    GPU UUID                              : {uuid}\n"
        f"    GSP Firmware Version                  : {DRIVER}\n"
        "    GPU Recovery Action                   : None\n"
        for address, uuid in gpus.items()
        if address != lost
    )
    head = (
        "==============NVSMI LOG==============\n\n"
        f"Timestamp                                 : {at:%a %b %d %H:%M:%S %Y}\n"
        f"Driver Version                            : {DRIVER}\n"
        "CUDA Version                              : 13.0\n\n"
        f"Attached GPUs                             : {len(gpus)}\n"
    )
    return said + head + blocks
