"""Which processes held the GPUs of a node when the bundle was collected."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "gpu_usages",
        "facts",
        "Nodes for which the bundle tells what held their GPUs when it was collected (gpu_device_usage_NODE.log).",
        """
file_id INTEGER the file that tells
input INTEGER its input
node_id BIGINT the Node, null where the bundle has none of that name
node VARCHAR its name
holders INTEGER processes in gpu_holders
more BOOLEAN there are more than were read
told VARCHAR what held them, in sentences
unknown VARCHAR why it cannot be told which processes there are (but those of nvidia-smi); null where it can
line BIGINT the line that says that there are none, or why it cannot be told; null where no line does
text VARCHAR that line
gpus INTEGER GPUs in the table of nvidia-smi, null where it printed none
mig_on INTEGER of these, with MIG on
mig_pending INTEGER of these, with a change of the MIG mode that has not taken effect
mig_line BIGINT the line that shows such a change of the first GPU
mig_text VARCHAR that line
""",
    ),
    table(
        "gpu_holders",
        "facts",
        "Processes that had device files of NVIDIA open when the bundle was collected, those that matter most first.",
        """
file_id INTEGER the file that tells
line BIGINT its line that tells most of the process
text VARCHAR that line, secrets masked
input INTEGER its input
node_id BIGINT the Node, null where the bundle has none of that name
node VARCHAR its name
pid BIGINT number of the process on the host
ppid BIGINT that of its parent, null where not told
user VARCHAR its user on the host, empty where not told
program VARCHAR its program without the folder; lsof and fuser cut long names
args VARCHAR its command line, secrets masked, at most 500 characters; empty where not told
stat VARCHAR state as ps prints it, empty where not told
stuck BOOLEAN it stands in the kernel and cannot be ended (state D)
elapsed VARCHAR how long it has run, as ps prints it
devices VARCHAR[] device files that it has open, such as nvidia0, nvidiactl or nvidia-uvm
gpus INTEGER[] GPUs that it is known to use: numbers of their device files, or indexes of nvidia-smi
part VARCHAR program (of a workload or of the host), operand (of the GPU Operator) or driver (a daemon of the driver itself)
pod_id BIGINT the Pod it was concluded to be of, null where that cannot be told
pod VARCHAR its namespace and name
how VARCHAR what the pod was concluded from, or why it cannot be told, in words
words VARCHAR the process in words
rank INTEGER place among those of the node: 1 is the one that most likely stands in the way
""",
    ),
)
