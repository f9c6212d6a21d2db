"""Fit the packaged embedder to the questions that a memory is asked, and write its model.onnx.

    python scripts/fetch_model.py --to BASE                    the publisher's files, which it begins from
    python training/fit_embedder.py gather TASKS [--data DIR]   what it learns from, as one file; needs recollect
    python training/fit_embedder.py fit TASKS BASE OUT          OUT/model.onnx; needs torch, onnx and tokenizers

A task is a store of texts and questions about it. Most are the projects of training/notes, whose authors `notes.TAUGHT`
names; the rest are every second question of LongMemEval and of CoSQA (both under the MIT licence). The others of these,
the other authors, LoCoMo and the golden set are not learnt from, so that they can judge.

Question and texts go through the same twelve layers, and the question is to lie nearer to what answers it than to all
the rest of its store. A second term keeps every text's vector where it was: the thresholds that compare texts with each
other (near duplicates, contradictions, the janitor) mean what they meant. The vocabulary is left as it is. The file has
the publisher's own form, 7 bits a weight and a scale a column, and the weights are rounded to it while they are fitted:
rounded only at the end they are as if nothing had been learnt, because they move by less than a step. A minute on a
GPU. What it writes goes into the packaged folder under a new id and with its sha256 on the card
(model.json), so that no store mixes its vectors with older ones.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

    from recollect_eval.corpus import Corpus

PREFIX = "Represent this sentence for searching relevant passages: "
EPOCHS, BATCH, RATE, DECAY, DROP, SEED = 3, 32, 1e-4, 0.01, 0.1, 0
WARMTH = 0.03  # what cosines are divided by
STAY = 4.0  # how much a text's way from its old place counts
RELATED = 0.5  # what a related text is worth beside one that answers
WHOLE = 200  # a store of at most so many texts is compared with as a whole, a larger one with a part
SOME = 64  # texts of a larger store that a batch is compared with, besides its own answers
QUESTION, TEXT = 128, 256  # tokens that are read while fitting
PARTS = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "mixed": "attention.output.dense", "inner": "intermediate.dense", "outer": "output.dense",
}  # fmt: skip
NORMS = {"first": "attention.output.LayerNorm", "second": "output.LayerNorm"}
WIDE, HEADS, LAYERS = 384, 12, 12
STEPS = 64  # on either side of zero: 7 bits, so that sums of two products fit into 16 bits on older processors


# -- what is learnt from ----------------------------------------------------------------------------------------------


def gather(target: Path, data: Path | None) -> None:
    from recollect_eval import cosqa, longmemeval

    tasks = of_notes()
    for loaded in (longmemeval.load(data), cosqa.load(data)):
        tasks += [task(corpus, every=2) for corpus in loaded.corpora]
    with gzip.open(target, "wt", encoding="utf-8") as file:
        json.dump(tasks, file)
    print(f"{len(tasks)} stores, {sum(len(one['asked']) for one in tasks)} questions")


def of_notes() -> list[dict[str, Any]]:
    import notes

    return [task(corpus) for corpus in notes.corpora(notes.TAUGHT)]


def task(corpus: Corpus, every: int = 1) -> dict[str, Any]:
    """What is asked of a store, with the places of the texts that answer and of those that are related."""
    from recollect.remember.write import embedded_text

    places = {item.key: place for place, item in enumerate(corpus.items)}
    asked = []
    for question in corpus.questions[::every]:
        answers = question.label("answers") or question.right
        known = [[places[key] for key in sorted(keys)] for keys in (answers, question.right - answers)]
        if answers:
            asked.append({"question": question.text, "answers": known[0], "related": known[1]})
    return {"texts": [embedded_text(item.draft)[0] for item in corpus.items], "asked": asked}


@dataclass(slots=True)
class Task:
    """A store: the tokens of its texts, its questions, and where its texts lay before."""

    texts: list[list[int]]
    asked: list[tuple[list[int], list[int], list[int]]]
    before: Any = None


def tasks(path: Path, base: Path) -> list[Task]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()

    def tokens(texts: Sequence[str], most: int, prefix: str = "") -> list[list[int]]:
        tokenizer.enable_truncation(most)
        return [one.ids for one in tokenizer.encode_batch([prefix + text for text in texts])]

    with gzip.open(path, "rt", encoding="utf-8") as file:
        told = json.load(file)
    found = []
    for one in told:
        questions = tokens([asked["question"] for asked in one["asked"]], QUESTION, PREFIX)
        labels = ((asked["answers"], asked["related"]) for asked in one["asked"])
        asked = [(ids, *both) for ids, both in zip(questions, labels, strict=True)]
        found.append(Task(tokens(one["texts"], TEXT), asked))
    return found


# -- the network ------------------------------------------------------------------------------------------------------


def layer() -> nn.ModuleDict:
    from torch import nn

    sizes = {"inner": (WIDE, 4 * WIDE), "outer": (4 * WIDE, WIDE)}
    parts: dict[str, nn.Module] = {name: nn.Linear(*sizes.get(name, (WIDE, WIDE))) for name in PARTS}
    return nn.ModuleDict(parts | {name: nn.LayerNorm(WIDE, eps=1e-12) for name in NORMS})


def encode(model: nn.Module, rows: Sequence[Sequence[int]], drop: float = 0.0) -> Tensor:
    """The unit vectors of some tokenized texts."""
    import torch
    from torch.nn import functional

    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device="cuda")
    mask = (ids > 0)[:, None, None, :]
    with torch.autocast("cuda", torch.bfloat16):
        places = torch.arange(longest, device="cuda")
        x = model["norm"](model["word"](ids) + model["place"](places) + model["side"].weight[0])
        for one in model["layers"]:
            split = (
                through(one[name], x).view(*ids.shape, HEADS, -1).transpose(1, 2) for name in ("query", "key", "value")
            )
            seen = functional.scaled_dot_product_attention(*split, attn_mask=mask, dropout_p=drop)
            seen = through(one["mixed"], seen.transpose(1, 2).reshape(x.shape))
            x = one["first"](x + functional.dropout(seen, drop))
            inner = through(one["outer"], functional.gelu(through(one["inner"], x)))
            x = one["second"](x + functional.dropout(inner, drop))
    return functional.normalize(x[:, 0].float(), dim=1)


def through(part: nn.Module, x: Tensor) -> Tensor:
    """A linear layer as the file will hold it: weights on their steps, while the slope goes to those beneath."""
    import torch
    from torch.nn import functional

    scale = part.weight.detach().abs().amax(1, keepdim=True) / STEPS
    stepped = torch.round(part.weight / scale) * scale
    return functional.linear(x, part.weight + (stepped - part.weight).detach(), part.bias)


def embed(model: nn.Module, rows: Sequence[Sequence[int]]) -> Tensor:
    import torch

    order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    found = torch.zeros(len(rows), WIDE, device="cuda")
    with torch.no_grad():
        for start in range(0, len(order), 512):
            part = order[start : start + 512]
            found[part] = encode(model, [rows[place] for place in part])
    return found


def opened(base: Path) -> nn.ModuleDict:
    """The publisher's network; only its layers will be fitted."""
    import torch
    from torch import nn

    known = weights(base)
    model = nn.ModuleDict({
        "word": nn.Embedding(30522, WIDE), "place": nn.Embedding(512, WIDE), "side": nn.Embedding(2, WIDE),
        "norm": nn.LayerNorm(WIDE, eps=1e-12), "layers": nn.ModuleList([layer() for _ in range(LAYERS)]),
    })  # fmt: skip
    names = {"word": "word_embeddings", "place": "position_embeddings", "side": "token_type_embeddings"}
    state = {f"{mine}.weight": known[f"embeddings.{theirs}.weight"] for mine, theirs in names.items()}
    state |= {f"norm.{what}": known[f"embeddings.LayerNorm.{what}"] for what in ("weight", "bias")}
    for mine, theirs in fitted_names():
        state[mine] = known[theirs].T if theirs.endswith(".weight") and known[theirs].ndim == 2 else known[theirs]
    model.load_state_dict({name: torch.tensor(array) for name, array in state.items()})
    for name, weight in model.named_parameters():
        weight.requires_grad = name.startswith("layers")
    return model.cuda()


def fitted_names() -> Iterator[tuple[str, str]]:
    """The name of each fitted weight here and in the publisher's graph."""
    for number in range(LAYERS):
        for mine, theirs in (PARTS | NORMS).items():
            for what in ("weight", "bias"):
                yield f"layers.{number}.{mine}.{what}", f"encoder.layer.{number}.{theirs}.{what}"


# -- fitting ----------------------------------------------------------------------------------------------------------


def fit(base: nn.ModuleDict, learnt: Sequence[Task]) -> nn.ModuleDict:
    import torch

    torch.manual_seed(SEED)
    chance = random.Random(SEED)
    model = copy.deepcopy(base)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, weight_decay=DECAY)
    plan = [batch for _ in range(EPOCHS) for batch in _epoch(learnt, chance)]
    for step, (task, batch) in enumerate(plan):
        done = step / len(plan)
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(done / 0.1 + 1e-3, 1.0) * (1 - done)
        loss = _loss(model, task, batch, chance)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        if step % 200 == 0:
            print(f"{done:.0%}, loss {loss.item():.3f}", flush=True)
    return model


def _epoch(learnt: Sequence[Task], chance: random.Random) -> list[tuple[Task, list[int]]]:
    batches = []
    for task in learnt:
        order = chance.sample(range(len(task.asked)), len(task.asked))
        batches += [(task, order[start : start + BATCH]) for start in range(0, len(order), BATCH)]
    chance.shuffle(batches)
    return batches


def _loss(model: nn.ModuleDict, task: Task, batch: list[int], chance: random.Random) -> Tensor:
    import torch
    from torch.nn import functional

    used = list(range(len(task.texts)))
    if len(used) > WHOLE:
        own = {place for number in batch for place in task.asked[number][1]}
        used = sorted(own | set(chance.sample(used, SOME)))
    wanted = torch.zeros(len(batch), len(task.texts), device="cuda")
    for row, number in enumerate(batch):
        _, answers, related = task.asked[number]
        wanted[row, related] = RELATED
        wanted[row, answers] = 1.0
    wanted = (wanted / wanted.sum(1, keepdim=True))[:, used]
    asked = encode(model, [task.asked[number][0] for number in batch], DROP)
    texts = encode(model, [task.texts[place] for place in used], DROP)
    fits = -(functional.log_softmax(asked @ texts.T / WARMTH, 1) * wanted).sum(1).mean()
    moved = 1 - (texts * task.before[used]).sum(1).mean()
    return fits + STAY * moved


# -- the file ---------------------------------------------------------------------------------------------------------


def sources(graph: Any) -> dict[str, str]:
    """The name that the graph gives the numbers of each layer's matrix."""
    found = {}
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            name = node.name.removeprefix("/encoder/").removesuffix("/MatMul_quant").replace("/", ".")
            found[f"encoder.{name}.weight"] = node.input[1].removesuffix("_quantized")
    return found


def weights(base: Path) -> dict[str, Any]:
    """Every weight of the publisher's model as plain numbers."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(base / "model.onnx").graph
    raw = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    known = {name: array for name, array in raw.items() if name.endswith((".bias", "LayerNorm.weight"))}
    packed = {f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")}
    for name, source in (sources(graph) | {name: name for name in packed}).items():
        whole = raw[f"{source}_quantized"].astype(np.float32) - raw[f"{source}_zero_point"].astype(np.float32)
        known[name] = whole * raw[f"{source}_scale"]
    return known


def write(model: nn.ModuleDict, base: Path, target: Path) -> None:
    """The publisher's graph with these weights in it."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    told = onnx.load(base / "model.onnx")
    state = {name: weight.detach().cpu().numpy() for name, weight in model.state_dict().items()}
    named = sources(told.graph)
    fresh: dict[str, Any] = {}
    for mine, theirs in fitted_names():
        if theirs not in named:
            fresh[theirs] = state[mine]
            continue
        columns = state[mine].T
        scale = np.maximum(np.abs(columns).max(axis=0) / STEPS, 1e-12).astype(np.float32)
        fresh[f"{named[theirs]}_quantized"] = np.rint(columns / scale).astype(np.int8)
        fresh[f"{named[theirs]}_scale"] = scale
    for one in told.graph.initializer:
        if one.name in fresh:
            one.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(fresh[one.name]), one.name))
    target.write_bytes(told.SerializeToString())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    gathering = verbs.add_parser("gather")
    gathering.add_argument("tasks", type=Path)
    gathering.add_argument("--data", type=Path, help="the folder of the data, see bench/README.md")
    fitting = verbs.add_parser("fit")
    for name in ("tasks", "base", "out"):
        fitting.add_argument(name, type=Path)
    args = parser.parse_args()
    if args.verb == "gather":
        gather(args.tasks, args.data)
        return
    base, learnt = opened(args.base), tasks(args.tasks, args.base)
    for task in learnt:
        task.before = embed(base, task.texts)
    fitted = fit(base, learnt)
    args.out.mkdir(parents=True, exist_ok=True)
    write(fitted, args.base, args.out / "model.onnx")


if __name__ == "__main__":
    main()
