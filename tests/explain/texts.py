"""What XLA has said, shortened, and the text of one of its functions that nothing made it say."""

from __future__ import annotations

GAP = (
    "UNIMPLEMENTED: Support for annotation groups with gaps doesn't exist yet, annotation: 5, "
    "instr: collective-permute-start.2 has the same annotation in its operand tree but has gaps "
    "on the way from that operand to itself. You can use "
    "--xla_tpu_scheduling_annotation_deannotate_unsupported_groups=true to deannotate the "
    "unsupported groups."
)
TWO_IDS = (
    "INVALID_ARGUMENT: Instruction has a non-integer scheduling annotation group id, "
    "inst: collective-permute-start, annotation: 1,2"
)
NO_INTEGER = TWO_IDS.replace("1,2", "abc")
NEGATIVE = (
    "INVALID_ARGUMENT: Instruction has a negative scheduling annotation group id, "
    "inst: all_gather.1, annotation: -1"
)
THREE_FIELDS = (
    "INVALID_ARGUMENT: Instruction has more than 2 scheduling annotation fields, "
    "inst: all_gather.1, annotation: 1:2:3"
)
STUCK = (
    "INTERNAL: FindAndExtractBestNodeAvailable failed to find a node to schedule, skipped nodes: "
    "convolution_add_fusion: Skipped due to kAnnotationNotReady."
)
FUSION = (
    "INTERNAL: Found a fusion with multiple annotations in the fused computation. "
    "fusion: add_fusion.3, annotations: 1 and 2:1"
)
CYCLE = (
    "INTERNAL: ERROR: Detected scheduling group annotation cycle between scheduling_group_id: 3 "
    "and scheduling_group_id: 8"
)
OVERLAP = (
    "INTERNAL: There is a scheduling group which exceeds the overlap limits. Annotation id: 4. "
    "It needs 3 kCollectivePermute resources, but the limit is 1. "
)
ORDER = (
    "F0000 00:00:00.1 1 latency_hiding_scheduler.cc:267] Check failed: "
    "HasKeepOriginalSequenceOrderInGroupAttribute(instr) "
)
PROPAGATION = (
    "INTERNAL: Trying to propagate scheduling annotation 1 to add.5 but it has an existing "
    "annotation: 2"
)

_STAMP = "I1130 21:55:37.1 27435 legalize_scheduling_annotations.cc:359] PATH: "
_PATHS = [
    ("collective-permute-start.9", "8"),
    ("collective-permute-done.7", "8"),
    ("collective-permute-start.2", "5"),
    ("get-tuple-element.2", ""),
    ("loop_add_tanh_fusion", ""),
    ("collective-permute-done.1", "5"),
]
_LOGGED = "\n".join(f"{_STAMP}{name}, annotation: {group}" for name, group in _PATHS)

LOG = f"""\
step 17: compiling
{_LOGGED}
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    step(x)
jax.errors.JaxRuntimeError: {GAP}

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "train.py", line 12, in <module>
jax.errors.JaxRuntimeError: {GAP}
E1130 rank 3: XlaRuntimeError('{TWO_IDS}')
done
"""
"""A log in which XLA was told to be talkative (TF_CPP_MIN_LOG_LEVEL=0)."""
