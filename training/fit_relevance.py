"""Fit the relevance model: a cross-encoder that reads a prompt and a note together, and write its model.onnx.

    python training/fit_relevance.py gather TASKS [--data DIR] [--passages FILE]   what it learns from, as one file
    python training/fit_relevance.py fit TASKS OUT [--hold FOLDS]   the fitted layers; needs torch, onnx and a GPU
    python training/fit_relevance.py build OUT                      the packaged model.onnx; needs onnx

It gives two logits: does the note answer the prompt, and would it help with what the prompt asks for. A task is a store
of texts with questions about it: the made-up projects of training/notes, LongMemEval and CoSQA (both under the MIT
licence), and questions that several authors wrote about passages of permissively licensed packages and sessions
(training/passages), and two authors of training/prompts. LoCoMo, QQP, the golden set and the other authors of
training/prompts are not learnt from.

The network starts from the packaged embedder's layers. It first learns to give what the embedder's cosine says: without
that it takes far more labelled pairs to learn what the embedder knows. Then teachers of twelve layers learn the labels,
and a student of fewer layers, taken from the first teacher, learns their mean logits on many more pairs than are
labelled. The student's weights are rounded to 7 bits in every forward pass, as the file will hold them. The vocabulary
is the embedder's own and stays in the embedder's file.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fit_embedder import HEADS, NORMS, PARTS, STEPS, WIDE, layer, sources, through, weights

if TYPE_CHECKING:
    from torch import Tensor, nn

ROOT = Path(__file__).parents[1]
PACKAGED = ROOT / "src" / "recollect" / "models" / "data" / "arctic-embed-s"
TARGET = PACKAGED.parent / "reader"
PASSAGES = ROOT / "training" / "passages"
PROMPTS, TAUGHT = ROOT / "training" / "prompts", ("d1", "d2")  # authors whom the shipped weights were fitted on
VOCABULARY = "embeddings.word_embeddings.weight_quantized"
WORDS = "/embeddings/word_embeddings/Gather_output_0_quantized"  # where the graph begins: the words' own bytes
PREFIX = "Represent this sentence for searching relevant passages: "
STUDENTS: dict[str, Sequence[int]] = {
    "six": (0, 2, 4, 6, 8, 11),
    "eight": (0, 1, 3, 4, 6, 7, 9, 11),
    "twelve": range(12),
}
QUESTION, TEXT = 64, 160  # tokens of a prompt and of a note that are read
NEAR, HARD, RANDOM = 24, 6, 1  # nearest texts that are mined, and how many of them and of the others a step sees
EPOCHS, BATCH, RATE, DECAY, DROP = 3, 32, 1e-4, 0.01, 0.1


# -- what is learnt from ----------------------------------------------------------------------------------------------


def gather(target: Path, data: Path | None, passages: Path | None) -> None:
    import notes
    from recollect_eval import cosqa, longmemeval

    tasks = [_task(corpus, f"notes-{corpus.name[0]}") for corpus in notes.corpora("abcdefgh")]
    tasks += [_task(corpus, f"together-{corpus.name[0]}") for corpus in notes.together()]
    for name, loaded in (("longmemeval", longmemeval.load(data)), ("cosqa", cosqa.load(data))):
        tasks += [_task(corpus, name) for corpus in loaded.corpora]
    texts: dict[str, str] = json.loads(passages.read_text("utf-8")) if passages else {}
    for path in sorted(PASSAGES.glob("*.jsonl.gz")):
        tasks += _passages(path, texts)
    for author in TAUGHT:
        tasks += [one for kind in ("relevance", "injection") for one in _prompts(PROMPTS / f"{kind}-{author}.jsonl")]
    with gzip.open(target, "wt", encoding="utf-8") as file:
        json.dump(tasks, file)
    print(f"{len(tasks)} stores, {sum(len(one['asked']) for one in tasks)} prompts")


def _task(corpus: Any, fold: str) -> dict[str, Any]:
    """What is asked of a store: the places of what answers, of what is related, and of what nobody has judged."""
    from recollect.remember.write import embedded_text

    places = {item.key: place for place, item in enumerate(corpus.items)}
    asked = []
    for question in corpus.questions:
        answers = question.label("answers") or question.right
        known = (answers, question.right - answers, question.label("stale"))
        found = [[places[key] for key in sorted(keys)] for keys in known]
        asked.append(dict(zip(("answers", "related", "unsure"), found, strict=True), question=question.text))
    return {"fold": fold, "texts": [embedded_text(item.draft)[0] for item in corpus.items], "asked": asked}


def _passages(path: Path, texts: dict[str, str]) -> list[dict[str, Any]]:
    """The prompts of one author about passages; each package is a store. The passages themselves are not kept here."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line for line in map(json.loads, file) if line["sha256"] in texts]
    stores: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        stores.setdefault(line["package"], []).append(line)
    made = []
    for own in stores.values():
        asked: list[dict[str, Any]] = []
        for place, line in enumerate(own):
            asked += [_asked(said, answers=[place]) for said in line["answered"]]
            asked += [_asked(said, related=[place]) for said in line["helped"]]
            asked += [_asked(said, near=[place]) for said in (*line["unanswered"], *line["unhelped"])]
        told = [texts[line["sha256"]] for line in own]
        made.append({"fold": path.name.split(".")[0], "texts": told, "asked": asked})
    return made


def _asked(said: str, **places: list[int]) -> dict[str, Any]:
    return {"question": said, "answers": [], "related": [], "unsure": [], **places}


def _prompts(path: Path) -> list[dict[str, Any]]:
    """The stores of one author of training/prompts."""
    made = []
    whole = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in whole.decode("utf-8").splitlines():
        told = json.loads(line)
        notes = told.get("notes") or told["memories"]
        places = {note["id"]: place for place, note in enumerate(notes)}
        texts = [f"{note.get('title') or ''}\n{note['text']}".strip() for note in notes]
        if "questions" in told:
            asked = [_asked(one["ask"], answers=[places[id] for id in one["answers"]]) for one in told["questions"]]
        else:
            asked = [
                _asked(one["prompt"], related=[places[id] for id in (*one["needed"], *one.get("useful", ()))])
                for one in told["prompts"]
            ]
        made.append({"fold": path.name.split(".")[0], "texts": texts, "asked": asked})
    return made


@dataclass(slots=True)
class Asked:
    tokens: list[int]
    answers: list[int]
    related: list[int]
    unsure: list[int]
    near: list[int]  # texts that look right: what the author names as wrong, then the nearest
    task: bool  # helped without being answered: says nothing about answers


@dataclass(slots=True)
class Store:
    fold: str
    texts: list[list[int]]
    asked: list[Asked] = field(default_factory=list)


def prefixed() -> list[int]:
    from tokenizers import Tokenizer

    return list(Tokenizer.from_file(str(PACKAGED / "tokenizer.json")).encode(PREFIX.strip()).ids[:-1])


def read(path: Path) -> list[Store]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(PACKAGED / "tokenizer.json"))
    tokenizer.no_padding()

    def tokens(texts: Sequence[str], most: int) -> list[list[int]]:
        tokenizer.enable_truncation(most)
        return [one.ids for one in tokenizer.encode_batch(list(texts))]

    with gzip.open(path, "rt", encoding="utf-8") as file:
        told = json.load(file)
    stores = []
    for one in told:
        store = Store(one["fold"], tokens(one["texts"], TEXT))
        for ids, asked in zip(tokens([a["question"] for a in one["asked"]], QUESTION), one["asked"], strict=True):
            task = bool(asked["related"] and not asked["answers"])
            near = list(asked.get("near", ()))
            store.asked.append(Asked(ids, asked["answers"], asked["related"], asked["unsure"], near, task))
        stores.append(store)
    return stores


# -- the network ------------------------------------------------------------------------------------------------------


def shortened(model: nn.ModuleDict, layers: Sequence[int]) -> nn.ModuleDict:
    """A copy of some layers of a network, and of all the rest."""
    from torch import nn

    found = copy.deepcopy(model)
    found["layers"] = nn.ModuleList([found["layers"][number] for number in layers])
    return found


def opened(layers: Sequence[int]) -> nn.ModuleDict:
    """Some layers of the packaged embedder and a head of two logits."""
    import torch
    from torch import nn

    known = weights(PACKAGED)
    model = nn.ModuleDict({
        "word": nn.Embedding(30522, WIDE), "place": nn.Embedding(512, WIDE), "side": nn.Embedding(2, WIDE),
        "norm": nn.LayerNorm(WIDE, eps=1e-12), "layers": nn.ModuleList([layer() for _ in layers]),
        "head": nn.Linear(WIDE, 2),
    })  # fmt: skip
    names = {"word": "word_embeddings", "place": "position_embeddings", "side": "token_type_embeddings"}
    state = {f"{mine}.weight": known[f"embeddings.{theirs}.weight"] for mine, theirs in names.items()}
    state |= {f"norm.{what}": known[f"embeddings.LayerNorm.{what}"] for what in ("weight", "bias")}
    for number, source in enumerate(layers):
        for mine, theirs in (PARTS | NORMS).items():
            for what in ("weight", "bias"):
                array = known[f"encoder.layer.{source}.{theirs}.{what}"]
                state[f"layers.{number}.{mine}.{what}"] = array.T if what == "weight" and array.ndim == 2 else array
    loaded = {name: torch.tensor(array) for name, array in state.items()}
    loaded |= {"head.weight": torch.randn(2, WIDE) * 0.02, "head.bias": torch.zeros(2)}
    model.load_state_dict(loaded)
    for name, weight in model.named_parameters():
        weight.requires_grad = name.startswith(("layers", "head"))
    return model.to(DEVICE)


def linear(part: nn.Module, x: Tensor) -> Tensor:
    return through(part, x) if ROUNDED else part(x)


def states(model: nn.ModuleDict, rows: Sequence[Sequence[int]], sides: Sequence[int], drop: float) -> Tensor:
    """The last state of the first token of some rows; `sides` says where each row's second text begins."""
    import numpy as np
    import torch
    from torch.nn import functional

    longest = -(-max(map(len, rows)) // 8) * 8
    filled = np.zeros((len(rows), longest), np.int64)
    for number, row in enumerate(rows):
        filled[number, : len(row)] = row
    ids = torch.from_numpy(filled).to(DEVICE, non_blocking=True)
    places = torch.arange(longest, device=DEVICE)
    second = (places[None, :] >= torch.tensor(sides, device=DEVICE)[:, None]) & (ids > 0)
    mask = (ids > 0)[:, None, None, :]
    with torch.autocast(DEVICE, torch.bfloat16):
        x = model["norm"](model["word"](ids) + model["place"](places) + model["side"](second.long()))
        x = functional.dropout(x, drop, training=drop > 0)
        for one in model["layers"]:
            split = (
                linear(one[name], x).view(*ids.shape, HEADS, -1).transpose(1, 2) for name in ("query", "key", "value")
            )
            seen = functional.scaled_dot_product_attention(*split, attn_mask=mask, dropout_p=drop)
            seen = linear(one["mixed"], seen.transpose(1, 2).reshape(x.shape))
            x = one["first"](x + functional.dropout(seen, drop, training=drop > 0))
            inner = linear(one["outer"], functional.gelu(linear(one["inner"], x)))
            x = one["second"](x + functional.dropout(inner, drop, training=drop > 0))
    return x[:, 0].float()


def logits(model: nn.ModuleDict, pairs: Sequence[tuple[list[int], list[int]]], drop: float = 0.0) -> Tensor:
    """Prompt and note in one row: [CLS] prompt [SEP] note [SEP]."""
    return model["head"](states(model, [one + two[1:] for one, two in pairs], [len(one) for one, _ in pairs], drop))


def score(model: nn.ModuleDict, pairs: Sequence[tuple[list[int], list[int]]]) -> Tensor:
    import torch

    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][0]) + len(pairs[place][1]))
    found = torch.zeros(len(pairs), 2, device=DEVICE)
    with torch.no_grad():
        for start in range(0, len(order), 1024):
            part = order[start : start + 1024]
            found[part] = logits(model, [pairs[place] for place in part])
    return found


def embed(rows: Sequence[Sequence[int]]) -> Tensor:
    """Unit vectors by the packaged embedder."""
    import torch
    from torch.nn import functional

    if not EMBEDDER:
        EMBEDDER.append(opened(range(12)))
    order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    found = torch.zeros(len(rows), WIDE, device=DEVICE)
    with torch.no_grad():
        for start in range(0, len(order), 1024):
            part = order[start : start + 1024]
            some = [rows[place] for place in part]
            found[part] = functional.normalize(states(EMBEDDER[0], some, [999] * len(some), 0.0), dim=1)
    return found


def mine(stores: Sequence[Store]) -> None:
    """The nearest texts of every prompt, by the packaged embedder."""
    texts = embed([text for store in stores for text in store.texts])
    asked = embed([PREFIXED + one.tokens[1:] for store in stores for one in store.asked])
    at_text = at_asked = 0
    for store in stores:
        own = texts[at_text : at_text + len(store.texts)]
        mine = asked[at_asked : at_asked + len(store.asked)]
        at_text, at_asked = at_text + len(own), at_asked + len(mine)
        nearest = (mine @ own.T).topk(min(NEAR + 8, len(own)), dim=1).indices.tolist()
        for one, near in zip(store.asked, nearest, strict=True):
            judged = {*one.answers, *one.related, *one.unsure, *one.near}
            one.near += [place for place in near if place not in judged][:NEAR]


# -- fitting ----------------------------------------------------------------------------------------------------------


def fit(stores: Sequence[Store], seed: int, model: nn.ModuleDict) -> nn.ModuleDict:
    """A teacher: every prompt with what answers it, some of what looks like it, and some of the rest."""
    import torch
    from torch.nn import functional

    torch.manual_seed(seed)
    chance = random.Random(seed)
    model = copy.deepcopy(model)
    all_asked = [(store, one) for store in stores for one in store.asked]
    steps = EPOCHS * (len(all_asked) // BATCH)
    optimizer = torch.optim.AdamW([w for w in model.parameters() if w.requires_grad], weight_decay=DECAY)
    step = 0
    for _ in range(EPOCHS):
        chance.shuffle(all_asked)
        for start in range(0, len(all_asked) - BATCH + 1, BATCH):
            pairs, wanted = [], []
            for store, one in all_asked[start : start + BATCH]:
                some = drawn(store, one, chance)
                pairs += [(one.tokens, store.texts[place]) for place, _ in some]
                wanted += [label for _, label in some]
            done = step / steps
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(done / 0.06 + 1e-3, 1.0) * (1 - done)
            given = logits(model, pairs, DROP)
            target = torch.tensor(wanted, device=DEVICE)
            known = (target >= 0).float()
            loss = functional.binary_cross_entropy_with_logits(given, target.clamp(min=0), reduction="none")
            loss = (loss * known * torch.tensor([2.0, 1.0], device=DEVICE)).sum() / known.sum()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 200 == 0:
                print(
                    f"{time.monotonic() - BEGAN:.0f} s teacher {seed}: {done:.0%}, loss {loss.item():.3f}", flush=True
                )
    return model


def drawn(store: Store, one: Asked, chance: random.Random) -> list[tuple[int, tuple[float, float]]]:
    """Some texts for a prompt with what each should get: whether it answers, and whether it helps; -1 is not known."""
    some = [(place, (1.0, 1.0)) for place in one.answers[:4]]
    some += [(place, (-1.0 if one.task else 0.0, 1.0)) for place in one.related[:3]]
    first = one.near[:1] if not one.answers and not one.related else []
    rest = [place for place in one.near if place not in first]
    hard = (
        first
        + chance.sample(rest[:8], min(HARD // 2, len(rest[:8])))
        + chance.sample(rest[8:], min(HARD // 2, len(rest[8:])))
    )
    taken = {*one.answers, *one.related, *one.unsure, *hard}
    others = [chance.randrange(len(store.texts)) for _ in range(RANDOM)]
    some += [(place, (0.0, 0.0)) for place in (*hard, *(place for place in others if place not in taken))]
    return some


def everything(stores: Sequence[Store], chance: random.Random) -> list[tuple[list[int], list[int]]]:
    """Every prompt with all that is near it, with another text of its store and with one of another store."""
    pairs = []
    for store in stores:
        for one in store.asked:
            near = [*one.answers, *one.related, *one.unsure, *one.near]
            pairs += [(one.tokens, store.texts[place]) for place in near]
            far = chance.choice(stores)
            pairs += [(one.tokens, chance.choice(far.texts)), (one.tokens, chance.choice(store.texts))]
    return pairs


def learn(
    model: nn.ModuleDict,
    pairs: Sequence[tuple[list[int], list[int]]],
    taught: Tensor,
    epochs: float,
    rate: float,
    name: str,
) -> None:
    """Fit a network to given logits."""
    import torch

    torch.manual_seed(0)
    chance = random.Random(0)
    optimizer = torch.optim.AdamW([w for w in model.parameters() if w.requires_grad], weight_decay=DECAY)
    size, step = 384, 0
    steps = int(epochs * (len(pairs) // size))
    batches: list[list[int]] = []
    while step < steps:
        if not batches:
            order = chance.sample(range(len(pairs)), len(pairs))
            order.sort(key=lambda place: (len(pairs[place][0]) + len(pairs[place][1])) // 16)
            batches = [order[start : start + size] for start in range(0, len(order) - size + 1, size)]
            chance.shuffle(batches)
        part = batches.pop()
        done = step / steps
        for group in optimizer.param_groups:
            group["lr"] = rate * min(done / 0.05 + 1e-3, 1.0) * (1 - done)
        given = logits(model, [pairs[place] for place in part], 0.0)
        loss = (given - taught[part]).pow(2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 300 == 0:
            print(f"{time.monotonic() - BEGAN:.0f} s {name}: {done:.0%}, loss {loss.item():.3f}", flush=True)


def cosines(pairs: Sequence[tuple[list[int], list[int]]]) -> Tensor:
    """How near the embedder puts prompt and note, stretched to the size of a logit."""
    import torch

    keys: dict[tuple[int, ...], int] = {}
    places = [[keys.setdefault((side, *row), len(keys)) for side, row in enumerate(pair)] for pair in pairs]
    vectors = embed([[*PREFIXED, *key[2:]] if key[0] == 0 else list(key[1:]) for key in keys])
    both = torch.tensor(places, device=DEVICE)
    near = (vectors[both[:, 0]] * vectors[both[:, 1]]).sum(1)
    return ((near - near.mean()) / near.std()).unsqueeze(1).expand(-1, 2).contiguous() * 2 - 2


def judge(model: nn.ModuleDict, stores: Sequence[Store], name: str) -> None:
    """Does the best of eight tell a store that answers from the same store without its answers?"""
    import numpy as np

    for column, what in ((0, "answers"), (1, "helps")):
        for fold in sorted({store.fold for store in stores}):
            cases: list[tuple[int, int, int]] = []
            pairs: list[tuple[list[int], list[int]]] = []
            for store in (one for one in stores if one.fold == fold):
                for one in store.asked:
                    wanted = one.answers if column == 0 else [*one.answers, *one.related]
                    if column == 0 and one.task:
                        continue
                    read = [*wanted, *one.near[:8]]
                    cases.append((len(pairs), len(wanted), len(read)))
                    pairs += [(one.tokens, store.texts[place]) for place in read]
            given = score(model, pairs)[:, column].tolist()
            own, other, right = [], [], []
            for start, rights, count in cases:
                some = given[start : start + count]
                if rights:
                    own.append(max(some))
                    right.append(max(some[:rights]) >= max(some))
                if count > rights:
                    other.append(max(some[rights:]))
            if own and other:
                high, low = np.array(own), np.array(other)
                area = float((high[:, None] > low[None, :]).mean())
                cuts = np.quantile(own + other, np.linspace(0.02, 0.98, 49))
                even = max((np.mean(high > cut) + np.mean(low <= cut)) / 2 for cut in cuts)
                print(f"{name} {what} {fold}: first {np.mean(right):.3f}, area {area:.3f}, balanced {even:.3f}, "
                      f"found at 10 % false {np.mean(high > np.quantile(low, 0.9)):.3f}", flush=True)  # fmt: skip


# -- the file ---------------------------------------------------------------------------------------------------------


def save(model: nn.ModuleDict, target: Path) -> None:
    """The fitted layers in a few small files, the matrices rounded to 7 bits as the graph will hold them."""
    import numpy as np

    state = {
        n: w.detach().cpu().numpy() for n, w in model.state_dict().items() if n.startswith(("layers", "head", "side"))
    }
    parts: dict[int, dict[str, Any]] = {}
    for name, array in state.items():
        part = parts.setdefault(int(name.split(".")[1]) // 4 if name.startswith("layers") else 0, {})
        if array.ndim == 2 and name.startswith("layers"):
            scale = np.maximum(np.abs(array).max(axis=1) / STEPS, 1e-12).astype(np.float32)
            part[f"{name}:scale"], array = scale, np.rint(array / scale[:, None]).astype(np.int8)
        part[name] = array
    for number, part in parts.items():
        np.savez_compressed(target.with_name(f"{target.name}-{number}.npz"), **part)


def build(folder: Path, name: str, target: Path = TARGET) -> dict[str, Any]:
    """The graph: the embedder's, without its vocabulary, cut behind the last layer, and the head on the first token."""
    import hashlib

    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnx.utils import Extractor

    known: dict[str, Any] = {}
    for path in sorted(folder.glob(f"{name}-*.npz")):
        known |= dict(np.load(path))
    layers = 1 + max(int(one.split(".")[1]) for one in known if one.startswith("layers"))
    told = onnx.load(PACKAGED / "model.onnx")
    named, fresh = sources(told.graph), {}
    for number in range(layers):
        for mine, theirs in (PARTS | NORMS).items():
            for what in ("weight", "bias"):
                array, own = known[f"layers.{number}.{mine}.{what}"], f"encoder.layer.{number}.{theirs}.{what}"
                if own in named:
                    fresh[f"{named[own]}_quantized"] = np.ascontiguousarray(array.T)
                    fresh[f"{named[own]}_scale"] = known[f"layers.{number}.{mine}.{what}:scale"]
                else:
                    fresh[own] = array
    if len(known.get("side.weight", ())) > 2:
        side = "embeddings.token_type_embeddings.weight"
        raw = {one.name: numpy_helper.to_array(one) for one in told.graph.initializer if one.name.startswith(side)}
        steps = np.rint(known["side.weight"] / raw[f"{side}_scale"]) + raw[f"{side}_zero_point"]
        fresh[f"{side}_quantized"] = np.clip(steps, 0, 255).astype(np.uint8)
    for one in told.graph.initializer:
        if one.name in fresh:
            one.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(fresh[one.name]), one.name))
    last = f"/encoder/layer.{layers - 1}/output/LayerNorm/Add_1_output_0" if layers < 12 else "last_hidden_state"
    told.graph.value_info.append(helper.make_tensor_value_info(WORDS, TensorProto.UINT8, ["batch", "tokens", WIDE]))
    told.graph.value_info.append(helper.make_tensor_value_info(last, TensorProto.FLOAT, ["batch", "tokens", WIDE]))
    cut = Extractor(told).extract_model([WORDS, "input_ids", "attention_mask", "token_type_ids"], [last])
    cut.graph.initializer.extend(
        [
            numpy_helper.from_array(np.array(0), "first"),
            numpy_helper.from_array(np.ascontiguousarray(known["head.weight"]), "head.weight"),
            numpy_helper.from_array(known["head.bias"], "head.bias"),
        ]
    )
    cut.graph.node.extend(
        [
            helper.make_node("Gather", [last, "first"], ["of_first"], axis=1),
            helper.make_node("Gemm", ["of_first", "head.weight", "head.bias"], ["logits"], transB=1),
        ]
    )
    del cut.graph.output[:]
    cut.graph.output.append(
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(known["head.bias"])])
    )
    onnx.checker.check_model(cut)
    target.mkdir(parents=True, exist_ok=True)
    (target / "model.onnx").write_bytes(cut.SerializeToString())
    whole = (PACKAGED / "model.onnx").read_bytes()
    words = next(one for one in onnx.load(PACKAGED / "model.onnx").graph.initializer if one.name == VOCABULARY)
    rows = numpy_helper.to_array(words)
    digest = {one: hashlib.sha256((target / one).read_bytes()).hexdigest() for one in ("model.onnx",)}
    return {"layers": layers, "sha256": digest, "words": whole.index(rows.tobytes())}


def main() -> None:
    global DEVICE, EPOCHS, ROUNDED
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    gathering = verbs.add_parser("gather")
    gathering.add_argument("tasks", type=Path)
    gathering.add_argument("--data", type=Path, help="the folder of the data, see bench/README.md")
    gathering.add_argument("--passages", type=Path, help="a JSON file: the texts of training/passages by their sha256")
    fitting = verbs.add_parser("fit")
    fitting.add_argument("tasks", type=Path)
    fitting.add_argument("out", type=Path)
    fitting.add_argument("--hold", default="", help="folds that judge and are not learnt from, by commas")
    fitting.add_argument("--teachers", type=int, default=3)
    fitting.add_argument("--epochs", type=int, default=EPOCHS)
    fitting.add_argument("--warm", type=float, default=1.0, help="passes over all pairs to learn the cosine first")
    fitting.add_argument("--passes", type=float, default=2.0, help="passes of the student over all pairs")
    fitting.add_argument("--students", default="six", help="six, twelve, or both by commas")
    fitting.add_argument("--device", default="cuda")
    fitting.add_argument("--few", type=int, default=0, help="stores to learn from, for a trial run")
    building = verbs.add_parser("build")
    building.add_argument("out", type=Path)
    building.add_argument("--student", default="six", choices=list(STUDENTS))
    args = parser.parse_args()
    if args.verb == "gather":
        gather(args.tasks, args.data, args.passages)
        return
    if args.verb == "build":
        print(build(args.out, args.student))
        return
    DEVICE, EPOCHS = args.device, args.epochs
    args.out.mkdir(parents=True, exist_ok=True)
    stores = read(args.tasks)
    PREFIXED[:] = prefixed()
    if args.few:
        stores = stores[: args.few] + stores[-args.few :]
    mine(stores)
    held = set(args.hold.split(",")) - {""}
    learnt, judging = [s for s in stores if s.fold not in held], [s for s in stores if s.fold in held]
    print(f"{len(learnt)} stores to learn from, {len(judging)} to judge by", flush=True)
    pairs = everything(learnt, random.Random(0))
    print(f"{time.monotonic() - BEGAN:.0f} s: {len(pairs)} pairs", flush=True)
    start = opened(range(12))
    learn(start, pairs, cosines(pairs), args.warm, 3e-4, "start")
    judge(start, judging, "start")
    teachers = []
    for seed in range(args.teachers):
        teachers.append(fit(learnt, seed, start))
        judge(teachers[-1], judging, f"teacher {seed}")
    taught = sum(score(teacher, pairs) for teacher in teachers) / len(teachers)
    for name, layers in STUDENTS.items():
        if name not in args.students:
            continue
        ROUNDED = True
        student = shortened(teachers[0], layers)
        learn(student, pairs, taught, args.passes, 3e-4, name)
        judge(student, judging, name)
        save(student, args.out / name)
        ROUNDED = False


DEVICE, ROUNDED, BEGAN = "cuda", False, time.monotonic()
EMBEDDER: list[Any] = []
PREFIXED: list[int] = []
if __name__ == "__main__":
    main()
