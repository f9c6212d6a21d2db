"""The models, on this machine or on a server; `embedder.load` and `llm.load` are the doors.

Each file that needs numpy or onnxruntime imports it when it is used, so that a command which embeds nothing does not
pay for them. The weights under `data/` are data: `training/fit_embedder.py` makes them, NOTICE names their author.
"""

import os

# onnxruntime reports home as soon as it is imported: it looks up its vendor's event host and keeps an id of this
# machine in the user's cache folder. Its own switch can be called only afterwards, so this stands before any import.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
