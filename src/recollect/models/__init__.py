"""The models that run on this machine; `embedder.load` is the door.

Each file that needs numpy or onnxruntime imports it when it is used, so that a command which embeds nothing does not
pay for them. The weights under `data/` are data: `scripts/fetch_model.py` makes them again, NOTICE names their author.
"""
