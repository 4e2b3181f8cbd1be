"""Write the sample bundles: `python samples/make.py` (a test holds the folders against this file).

Everything is invented. The stories are in the .md file beside each folder, what a report must say in the .expect.yaml.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cluster_info
import gpu_operator
import must_gather
import triage_bundle
from stories import gpu_cluster, gpu_faults, healthy, inference_platform, kind_dump, queues_and_serving

HERE = Path(__file__).resolve().parent
SAMPLES: dict[str, tuple[Callable[[], Any], Callable[[Path, Any], None]]] = {
    "gpu-cluster": (gpu_cluster.story, must_gather.write),
    "gpu-faults": (gpu_faults.story, gpu_operator.write),
    "healthy": (healthy.story, must_gather.write),
    "inference-platform": (inference_platform.story, partial(triage_bundle.write, kinds=inference_platform.KINDS)),
    "kind-dump": (kind_dump.story, cluster_info.write),
    "queues-and-serving": (queues_and_serving.story, triage_bundle.write),
}


def main() -> int:
    """Write every sample anew; the folder to write to may be given."""
    base = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, (story, write) in SAMPLES.items():
        shutil.rmtree(base / name, ignore_errors=True)
        write(base / name, story())
    return 0


if __name__ == "__main__":
    sys.exit(main())
