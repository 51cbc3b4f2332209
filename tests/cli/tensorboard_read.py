#!/usr/bin/env python3
"""Prints what TensorBoard's own loader finds in a folder, as JSON: {tag: [[step, wall time, value], ...]}.

usage: tensorboard_read.py FOLDER, with a Python that has the package `tensorboard`; without FOLDER only its version
"""

import json
import sys

import tensorboard
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

if len(sys.argv) == 1:
    print(tensorboard.__version__)
else:
    events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})  # 0: keeps every point, not a sample
    events.Reload()
    tags = events.Tags()["scalars"]
    print(json.dumps({tag: [[at.step, at.wall_time, at.value] for at in events.Scalars(tag)] for tag in tags}))
