"""What logs say about GPUs: Xid and SXid errors, and the words of driver, runtime, fabric manager and NCCL."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "xid_events",
        "facts",
        "Errors of NVIDIA GPUs (Xid) and NVSwitches (SXid) in logs, one row a line; of a flood the first and newest ones.",
        """
gpu_id BIGINT the GPU or switch and boot, see xid_gpus
log_id BIGINT the log
line BIGINT the line of the log's file
at TIMESTAMP its time, null where nothing tells its zone
stamp VARCHAR the time as written, where it has no zone (or counts from the boot)
source VARCHAR who says so: kernel, fabric-manager, device-plugin, dra-driver, dcgm, cuda, nvml, nvidia-smi, lspci or pcie (AER)
code INTEGER the Xid or SXid; null where the line has none
switch BOOLEAN it is about an NVSwitch (SXid)
class VARCHAR hardware, fabric, driver, application, consequence, information, verdict (Xid 154) or unknown
name VARCHAR what the code means
action VARCHAR what to do about it
grade VARCHAR fatal or nonfatal, where the line says so
recovery VARCHAR Xid 154: the recovery that the driver asks for from now on
part VARCHAR what it is in what befell the GPU: cause, consequence, verdict (Xid 154), or beside where that cannot be told
pid BIGINT the process, where the line names one
process VARCHAR its name
detail VARCHAR the line's own words behind the code
""",
    ),
    table(
        "xid_gpus",
        "facts",
        "Each GPU (or NVSwitch) and boot of its host for which a log tells an error, with what matters most.",
        """
gpu_id BIGINT identifies the row
input INTEGER its input
node_id BIGINT the Node, null where that cannot be told
node VARCHAR its name
host VARCHAR name of the host that the log gives, null where it gives none
how VARCHAR what tells the node, in words
gpu VARCHAR the GPU in words: UUID and PCI address as far as known
pci VARCHAR PCI address, null where unknown
uuid VARCHAR UUID, null where unknown
slot INTEGER which GPU of its node it is, from 0; null where nothing tells it by that number
switch BOOLEAN it is an NVSwitch
boot INTEGER 0 the newest boot that its logs show, -1 the one before it, …
verdict VARCHAR hardware (hardware, fabric or driver), application or information
severity VARCHAR how grave it is: error, warning or info
code INTEGER the code that leads, null where the line has none
class VARCHAR its class
name VARCHAR what it means
action VARCHAR what to do about it
codes VARCHAR[] all codes with how often they were seen, the leading one first
events BIGINT lines about it in the log that has most of them
least BOOLEAN there were more lines than are kept: events is a lower bound
first_at TIMESTAMP time of the first line that has one
last_at TIMESTAMP time of the last line that has one
stamp VARCHAR time of the leading line as written, where it has no zone
recovery VARCHAR what the driver asked for last (Xid 154; nvidia-smi -q where a report has both), null where it asked for nothing
programs VARCHAR[] names of processes that the lines give
jobs BOOLEAN Xids of applications come from several jobs and on this GPU alone
log_id BIGINT the log of the leading line
line BIGINT that line
text VARCHAR that line
pods VARCHAR[] pods that use it, or may (see sure), as namespace/name
sure BOOLEAN these pods hold this very GPU; else they use some GPU of that node
""",
    ),
    table(
        "bug_reports",
        "facts",
        "Reports of nvidia-bug-report.sh: the host and the versions of its driver.",
        """
log_id BIGINT the report, as a log
input INTEGER its input
node_id BIGINT the Node, null where that cannot be told
host VARCHAR name of the host, null where it does not say
kernel VARCHAR version of the kernel
driver VARCHAR version of the driver's kernel module
client VARCHAR version of the driver as nvidia-smi says it, null where it did not answer
""",
    ),
    table(
        "bug_report_gpus",
        "facts",
        "GPUs that nvidia-smi -q, or the kernel module in a report of nvidia-bug-report.sh, tells.",
        """
log_id BIGINT the log
line BIGINT where the GPU begins in the log's file
pci VARCHAR PCI address
uuid VARCHAR UUID
product VARCHAR model
firmware VARCHAR version of its firmware (GSP), null where it has none
minor INTEGER number of its device file (/dev/nvidia3), null where it is not told
recovery VARCHAR GPU Recovery Action: the recovery that the driver asks for then, None for none; null where it is not told
recovery_line BIGINT the line that tells it
""",
    ),
    table(
        "gpu_health",
        "facts",
        "What nvidia-smi -q and lspci say of the health of GPUs, by log; of what a log says several times the last. "
        "NULL is what they do not say.",
        """
log_id BIGINT the log
input INTEGER its input
node_id BIGINT the Node, null where that cannot be told
node VARCHAR its name, or that of the host
pci VARCHAR PCI address
uuid VARCHAR UUID, null where the log does not tell it
ecc_volatile BIGINT uncorrectable memory errors since the driver was loaded
ecc_aggregate BIGINT uncorrectable memory errors in the GPU's life
sram_exceeded BOOLEAN uncorrectable errors of its SRAM are more than NVIDIA's limit for a replacement
remapped_correctable BIGINT memory rows that were remapped for correctable errors
remapped_uncorrectable BIGINT memory rows that were remapped for uncorrectable errors
remap_pending BOOLEAN rows wait to be remapped with the next reset
remap_failed BOOLEAN rows could not be remapped
retired_single BIGINT memory pages that were retired for single-bit errors (GPUs before A100)
retired_double BIGINT memory pages that were retired for double-bit errors
retire_pending BOOLEAN pages wait to be retired with the next load of the driver
mig_current VARCHAR MIG mode: Enabled or Disabled
mig_pending VARCHAR MIG mode from the next reset on
slowdowns VARCHAR[] what makes the hardware slow the clocks down: HW Slowdown, HW Thermal Slowdown, HW Power Brake Slowdown
recovery VARCHAR the recovery that the driver asks for, None where it asks for none
fabric_state VARCHAR where the GPU stands with the NVLink fabric: Completed, In Progress, …
fabric_status VARCHAR how that went: Success or an error
link_width INTEGER lanes of its PCIe link that are in use, as nvidia-smi says
link_max INTEGER lanes that GPU and slot have
lspci_width INTEGER lanes in use as lspci says, only where they are fewer than the GPU has
lspci_max INTEGER lanes that the GPU has, likewise
""",
    ),
    table(
        "gpu_health_lines",
        "facts",
        "The lines behind gpu_health.",
        """
log_id BIGINT the log
pci VARCHAR PCI address of the GPU
field VARCHAR column of gpu_health; reset_required and drain_recommended are what older drivers say in place of recovery
line BIGINT the line of the log's file
text VARCHAR the line
""",
    ),
    table(
        "gpu_words",
        "facts",
        "Words of logs, pods and events that tell what is wrong with GPU driver, runtime, fabric, NCCL, plugins and programs.",
        """
topic VARCHAR driver, runtime, fabric, nccl, nic, operand (of the GPU Operator), dra (plugins of DRA drivers) or program
signature VARCHAR which words they are
input INTEGER its input
log_id BIGINT the log, null where an object says so
line BIGINT the line of the log's file
object_id BIGINT the Pod or Event that says so, null where a log does
path VARCHAR the field of it
text VARCHAR the words
at TIMESTAMP when, null where nothing says
first_at TIMESTAMP when it was first said there, null where nothing says
times BIGINT how often
pod_id BIGINT the Pod that it is about, null where it is none's
node_id BIGINT the Node, null where that cannot be told
node VARCHAR its name, or that of the host
fresh BOOLEAN it lasts: said lately, or by what still does not run
cause VARCHAR what it means, in words
remedy VARCHAR what to do about it
rank INTEGER how near to the root cause its kind of words is; 1 is nearest
""",
    ),
)
