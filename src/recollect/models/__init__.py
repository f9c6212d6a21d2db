"""The models, on this machine or on a server; `embedder.load` and `llm.load` are the doors.

Each file that needs numpy or onnxruntime imports it when it is used, so that a command which embeds nothing does not
pay for them. The weights under `data/` are data: `scripts/fit_embedder.py` makes them, NOTICE names their author.
"""
