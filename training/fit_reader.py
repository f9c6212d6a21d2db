"""Fit the reader: the small cross-encoder that reads two texts together, with a head for each thing asked of them.

    python fit_reader.py fit PAIRS OUT [--minutes 45]    the fitted layers; needs torch and onnx, one CPU core is enough
    python fit_reader.py build OUT                       the packaged model.onnx of them; needs onnx
    python fit_reader.py calibrate PAIRS --hold FOLDS    probabilities and cuts on the card; needs recollect

It begins from the packaged weights, so a fit is a continuation: `fit_relevance.py` made the first of them on a GPU.
What was learnt before is rehearsed: the logits that the packaged weights give are learnt again beside what is new.
`PAIRS` is made by `pairs.py`: one JSON object a line with `task`, `a`, `b`, `label`, `fold` and `weight`. Folds that
are held out choose and calibrate. Weights are rounded to 7 bits in every forward pass, as the file will hold them.

Of two statements or two questions the tokens that both have are marked, by two more rows of the table that tells the
two sides apart: what differs is then in plain sight, which a network of six layers hardly finds out by itself.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fit_relevance as base
from fit_embedder import HEADS as HEADS_WIDE
from fit_embedder import NORMS, PARTS, WIDE, layer, sources, through, weights

if TYPE_CHECKING:
    from torch import Tensor, nn

HEADS = ("answers", "helps", "same", "opposed", "narrower", "other", "asks_same", "durable")
RELATIONS = slice(2, 6)
TOKENS = 960  # tokens of a batch, padding counted
RATE, DECAY, DROP = 3e-4, 0.01, 0.05
FIRST, SECOND = 64, 160  # tokens that are read of a prompt and of a note; of two statements 96 each
EVEN = 96
COMPARED = ("relation", "asks_same")  # tasks in which tokens that both texts have are marked
SIDE_STEP = 0.00421715  # how finely the file holds what marks a side
KEPT = 0.5  # how much a logit of the packaged weights counts beside a label


@dataclass(slots=True)
class Pair:
    task: str
    a: list[int]
    b: list[int]
    label: Any
    fold: str
    weight: float


def read(path: Path) -> list[Pair]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return tokenized([json.loads(line) for line in file])


def tokenized(told: Sequence[dict[str, Any]]) -> list[Pair]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(base.PACKAGED / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    found: list[Pair] = []
    texts = list({one[side] for one in told for side in ("a", "b")})
    known = {text: list(row.ids) for text, row in zip(texts, tokenizer.encode_batch(texts), strict=True)}
    for one in told:
        first, second = (FIRST, SECOND) if one["task"] in ("answers", "keep") else (EVEN, EVEN)
        a, b = cut(known[one["a"]], first), cut(known[one["b"]], second)
        found.append(Pair(one["task"], a, b, one["label"], one["fold"], one.get("weight", 1.0)))
    return found


def cut(ids: list[int], most: int) -> list[int]:
    return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]


# -- the network ------------------------------------------------------------------------------------------------------


def opened(packaged: Path) -> nn.ModuleDict:
    """The packaged weights with a head of all logits; a head that is new begins at nothing."""
    import numpy as np
    import onnx
    import torch
    from onnx import numpy_helper
    from torch import nn

    words = weights(base.PACKAGED)
    graph = onnx.load(packaged / "model.onnx").graph
    raw = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    named = sources(graph)
    layers = 1 + max(int(name.split(".")[3 - 1]) for name in named)
    model = nn.ModuleDict({
        "word": nn.Embedding(30522, WIDE), "place": nn.Embedding(512, WIDE), "side": nn.Embedding(4, WIDE),
        "norm": nn.LayerNorm(WIDE, eps=1e-12), "layers": nn.ModuleList([layer() for _ in range(layers)]),
        "head": nn.Linear(WIDE, len(HEADS)),
    })  # fmt: skip
    names = {"word": "word_embeddings", "place": "position_embeddings", "side": "token_type_embeddings"}
    state = {f"{mine}.weight": words[f"embeddings.{theirs}.weight"] for mine, theirs in names.items()}
    sides = state["side.weight"]
    state["side.weight"] = np.concatenate([sides, sides]) if len(sides) == 2 else sides
    state |= {f"norm.{what}": words[f"embeddings.LayerNorm.{what}"] for what in ("weight", "bias")}
    for number in range(layers):
        for mine, theirs in (PARTS | NORMS).items():
            for what in ("weight", "bias"):
                own = f"encoder.layer.{number}.{theirs}.{what}"
                if own in named:
                    whole = raw[f"{named[own]}_quantized"].astype(np.float32)
                    array = (
                        (whole - raw[f"{named[own]}_zero_point"].astype(np.float32)) * raw[f"{named[own]}_scale"]
                    ).T
                else:
                    array = raw[own]
                state[f"layers.{number}.{mine}.{what}"] = array
    head, bias = np.zeros((len(HEADS), WIDE), np.float32), np.zeros(len(HEADS), np.float32)
    known = len(raw["head.bias"])
    head[:known], bias[:known] = raw["head.weight"], raw["head.bias"]
    state |= {"head.weight": head, "head.bias": bias}
    model.load_state_dict({name: torch.tensor(np.ascontiguousarray(array)) for name, array in state.items()})
    for name, weight in model.named_parameters():
        weight.requires_grad = name.startswith(("layers", "head", "side"))
    return model


def marked(first: Sequence[int], second: Sequence[int], shared: bool) -> list[int]:
    """The side of each token: 0 and 1, and two more where the other text has the very same token."""
    row = [*first, *second[1:]]
    both = set(first[1:-1]) & set(second[1:-1]) if shared else set()
    return [(n >= len(first)) + 2 * (token in both) for n, token in enumerate(row)]


def embed(model: nn.ModuleDict, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor]:
    """Some pairs before the first layer ([CLS] one [SEP] other [SEP]), and which of their places are filled."""
    import torch
    from torch.nn import functional

    longest = -(-max(len(one.a) + len(one.b) for one in pairs) // 8) * 8
    ids, sides = torch.zeros(len(pairs), longest, dtype=torch.long), torch.zeros(len(pairs), longest, dtype=torch.long)
    for number, one in enumerate(pairs):
        count = len(one.a) + len(one.b) - 1
        ids[number, :count] = torch.tensor([*one.a, *one.b[1:]])
        sides[number, :count] = torch.tensor(marked(one.a, one.b, one.task in COMPARED))
    side = model["side"].weight
    stepped = (torch.round(side / SIDE_STEP) * SIDE_STEP).clamp(-127 * SIDE_STEP, 127 * SIDE_STEP)
    told = functional.embedding(sides, side + (stepped - side).detach())
    return model["norm"](model["word"](ids) + model["place"](torch.arange(longest)) + told), ids > 0


def run_layers(model: nn.ModuleDict, x: Tensor, filled: Tensor, layers: slice, drop: float) -> Tensor:
    import torch
    from torch.nn import functional

    mask = filled[:, None, None, :]
    with torch.autocast("cpu", torch.bfloat16):
        for one in list(model["layers"])[layers]:
            split = (
                through(one[name], x).view(*x.shape[:2], HEADS_WIDE, -1).transpose(1, 2)
                for name in ("query", "key", "value")
            )
            seen = functional.scaled_dot_product_attention(*split, attn_mask=mask)
            seen = through(one["mixed"], seen.transpose(1, 2).reshape(x.shape))
            x = one["first"](x + functional.dropout(seen, drop, training=drop > 0))
            inner = through(one["outer"], functional.gelu(through(one["inner"], x)))
            x = one["second"](x + functional.dropout(inner, drop, training=drop > 0))
    return x


def logits(model: nn.ModuleDict, pairs: Sequence[Pair], frozen: int = 0, drop: float = 0.0) -> Tensor:
    """The logits of the first token of some pairs; nothing is learnt in the lowest layers, which are frozen."""
    import torch

    with torch.set_grad_enabled(torch.is_grad_enabled() and not frozen):
        x, filled = embed(model, pairs)
        x = run_layers(model, x, filled, slice(frozen), 0.0)
    return model["head"](run_layers(model, x, filled, slice(frozen, None), drop)[:, 0].float())


def batches(pairs: Sequence[Pair], chance: random.Random) -> list[list[int]]:
    """Pairs of about one length together, as many as fit into a batch, in any order."""
    order = chance.sample(range(len(pairs)), len(pairs))
    length = {place: len(pairs[place].a) + len(pairs[place].b) for place in order}
    made: list[list[int]] = []
    for start in range(0, len(order), 4096):
        batch: list[int] = []
        for place in sorted(order[start : start + 4096], key=lambda place: length[place]):
            if batch and length[place] * (len(batch) + 1) > TOKENS:
                made.append(batch)
                batch = []
            batch.append(place)
        if batch:
            made.append(batch)
    chance.shuffle(made)
    return made


def targets(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """What each logit should be, 0 or 1 or a logit to keep; -1 where a label says nothing. And what each row weighs."""
    import torch

    wanted = torch.full((len(pairs), len(HEADS)), -1.0)
    kept = torch.full((len(pairs), len(HEADS)), float("nan"))
    for row, one in enumerate(pairs):
        if one.task == "relation":
            wanted[row, RELATIONS] = 0.0
            wanted[row, HEADS.index(one.label)] = 1.0
        elif one.task == "keep":
            kept[row, :2] = torch.tensor(one.label["logits"])
        else:
            for name, value in one.label.items() if isinstance(one.label, dict) else ((one.task, one.label),):
                if name in HEADS:
                    wanted[row, HEADS.index(name)] = float(value)
    return wanted, kept, torch.tensor([one.weight for one in pairs])


def loss_of(given: Tensor, pairs: Sequence[Pair]) -> Tensor:
    import torch
    from torch.nn import functional

    wanted, kept, weight = targets(pairs)
    single = [at for at in range(len(HEADS)) if at not in range(*RELATIONS.indices(len(HEADS)))]
    told = (wanted[:, single] >= 0).float()
    own = functional.binary_cross_entropy_with_logits(
        given[:, single], wanted[:, single].clamp(min=0), reduction="none"
    )
    rows = (own * told).sum(1)
    related = wanted[:, RELATIONS]
    has = (related.max(1).values > 0).float()
    rows = rows + has * -(functional.log_softmax(given[:, RELATIONS], 1) * related.clamp(min=0)).sum(1)
    keeps = ~torch.isnan(kept)
    rows = rows + KEPT * torch.where(keeps, (given - kept.nan_to_num()).pow(2), torch.zeros_like(given)).sum(1) / 2
    return (rows * weight).sum() / weight.sum()


# -- fitting ----------------------------------------------------------------------------------------------------------


def fit(pairs: list[Pair], held: list[Pair], args: argparse.Namespace) -> None:
    import torch

    torch.manual_seed(0)
    chance = random.Random(0)
    model = opened(args.begin)
    if args.resume:
        model.load_state_dict(torch.load(args.resume))
    for number in range(args.freeze):
        model["layers"][number].requires_grad_(False)
    model["side"].requires_grad_(False)
    learnt = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(learnt, weight_decay=DECAY, betas=(0.9, 0.98), fused=True)
    began, step, seen, saved = time.process_time(), 0, 0, time.process_time()
    plan: list[list[int]] = []
    mean: dict[str, float] = {}
    while (done := (time.process_time() - began) / (60 * args.minutes)) < 1:
        if not plan:
            plan = batches(pairs, chance)
            print(f"{time.process_time() - began:.0f} s: a pass of {len(plan)} batches, {seen} pairs seen", flush=True)
        places = plan.pop()
        some = [pairs[place] for place in places]
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(step / 100 + 1e-3, 1.0) * (1 - done * (1 - args.floor))
        given = logits(model, some, args.freeze, DROP)
        loss = loss_of(given, some)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learnt, 1.0)
        optimizer.step()
        step, seen = step + 1, seen + len(some)
        mean["loss"] = 0.98 * mean.get("loss", loss.item()) + 0.02 * loss.item()
        if step % 200 == 0:
            spent = time.process_time() - began
            print(f"{spent:.0f} s: {done:.0%}, {seen / spent:.0f} pairs/s, loss {mean['loss']:.3f}", flush=True)
        if time.process_time() - saved > 60 * args.every:
            saved = time.process_time()
            base.save(model, args.out / "six")
            judge(model, held[:1500], f"{done:.0%}")
    base.save(model, args.out / "six")
    torch.save(model.state_dict(), args.out / "state.pt")
    judge(model, held, "end")


def score(model: nn.ModuleDict, pairs: Sequence[Pair]) -> Tensor:
    import torch

    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].a) + len(pairs[place].b))
    found = torch.zeros(len(pairs), len(HEADS))
    with torch.no_grad():
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            found[part] = logits(model, [pairs[place] for place in part])
    return found


def area(scores: Sequence[float], right: Sequence[bool]) -> float:
    import numpy as np

    high, low = (np.array([s for s, r in zip(scores, right, strict=True) if r == side]) for side in (True, False))
    return float((high[:, None] > low[None, :]).mean()) if len(high) and len(low) else math.nan


def judge(model: nn.ModuleDict, held: Sequence[Pair], name: str) -> None:
    """What the held folds say: of each relation the area under the curve, and the recall at 98 % precision."""
    import numpy as np
    import torch

    by: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for one in held:
        by[one.task, one.fold].append(one)
    for (task, fold), some in sorted(by.items()):
        given = score(model, some)
        if task == "relation":
            probability = torch.softmax(given[:, RELATIONS], 1).numpy()
            kinds = HEADS[RELATIONS]
            right = np.mean([kinds[row.argmax()] == one.label for row, one in zip(probability, some, strict=True)])
            parts = [f"right {right:.3f}"]
            for at, kind in enumerate(kinds[:3]):
                is_it = [one.label == kind for one in some]
                parts.append(
                    f"{kind} {area(probability[:, at].tolist(), is_it):.3f}/{recall(probability[:, at], is_it):.2f}"
                )
            print(f"  {name} relation {fold} ({len(some)}): {', '.join(parts)}", flush=True)
        elif task == "keep":
            apart = (given[:, :2] - torch.tensor([one.label["logits"] for one in some])).pow(2).mean(0).sqrt()
            print(f"  {name} keep {fold} ({len(some)}): logits apart by {apart.tolist()}", flush=True)
        else:
            for head in ("answers", "helps") if task == "answers" else (task,):
                told = [one.label.get(head, -1) if isinstance(one.label, dict) else one.label for one in some]
                known = [n for n, label in enumerate(told) if label >= 0]
                scores, is_it = given[known, HEADS.index(head)].numpy(), [bool(told[n]) for n in known]
                print(f"  {name} {head} {fold} ({len(known)}): area {area(scores.tolist(), is_it):.3f}, "
                      f"recall {recall(scores, is_it):.2f}", flush=True)  # fmt: skip


def recall(scores: Any, right: Sequence[bool], precision: float = 0.98) -> float:
    import numpy as np

    order = np.argsort(-np.asarray(scores))
    hits = np.cumsum(np.asarray(right)[order])
    enough = np.flatnonzero(hits / np.arange(1, len(order) + 1) >= precision)
    return float(hits[enough[-1]] / max(1, hits[-1])) if len(enough) else 0.0


# -- the file ---------------------------------------------------------------------------------------------------------

CARD = {
    "name": "six layers of arctic-embed-s, fitted to say how two texts belong together",
    "author": "The Recollect authors, from weights of Snowflake Inc.",
    "licence": "Apache-2.0",
    "fitted": "training/fit_relevance.py, then training/fit_reader.py; see training/README.md",
}
RISKS = (0.005, 0.01, 0.05, 0.1)


def build(out: Path, target: Path) -> None:
    """The graph, and a card with the calibration it had before."""
    own = target / "model.json"
    before = json.loads(own.read_text("utf-8")) if own.exists() else {}
    target.mkdir(parents=True, exist_ok=True)
    made = base.build(out, "six", target)
    card = {"id": f"{target.name}-6/1", **made, "heads": list(HEADS), **CARD}
    card |= {"calibration": before.get("calibration", {}), "cuts": before.get("cuts", {})}
    (target / "model.json").write_text(json.dumps(card, indent=2) + "\n", "utf-8")


def calibrate(pairs: Path, target: Path, held: set[str]) -> None:
    """Probabilities and cuts from folds that were not learnt from, read by the file itself, in both orders."""
    from recollect.language.vetoes import likeness
    from recollect.models.reader import PairReader

    card = json.loads((target / "model.json").read_text("utf-8"))
    before = dict(card["calibration"])
    for name in (*RELATED, "asks_same"):
        card["calibration"][name] = {name: 1.0, "bias": 0.0}
    card["calibration"].pop("durable", None)  # `fit_durable.py` makes a probability of it
    (target / "model.json").write_text(json.dumps(card, indent=2) + "\n", "utf-8")
    reader = PairReader(target)
    with gzip.open(pairs, "rt", encoding="utf-8") as file:
        told = [one for one in map(json.loads, file) if one["fold"] in held]
    for task, heads in (("relation", RELATED), ("asks_same", ("asks_same",))):
        some = sampled([one for one in told if one["task"] == task])
        if not some:
            card["calibration"] |= {head: before[head] for head in heads}
            continue
        known = [{**read_odds(reader, one, heads), **likeness(one["a"], one["b"])} for one in some]
        weights = balance(some)
        for head in heads:
            right = [is_right(one, head) for one in some]
            names = (head, *(LIKENESS if head in ("same", "opposed") else ()))
            free = [not forbidden(one, head) for one in some]
            able = [n for n in range(len(some)) if free[n]]
            fitted = logistic(
                [[known[n][name] for name in names] for n in able], [right[n] for n in able], [weights[n] for n in able]
            )
            card["calibration"][head] = {name: round(w, 4) for name, w in zip((*names, "bias"), fitted, strict=True)}
            sure = [probability(card["calibration"][head], one) for one in known]
            if head in CUT:
                card["cuts"][head] = cuts(sure, right, weights, free)
            if head == "asks_same":
                refused(reader, card)
            print(head, card["calibration"][head], card["cuts"].get(head), curve(sure, right, weights))
    calibrate_prompts(card)
    (target / "model.json").write_text(json.dumps(card, indent=2) + "\n", "utf-8")


HELD_AUTHORS = ("d4", "d5")  # of training/prompts: not learnt from
WIDER = {"cosine": 10.0}  # cosines of candidates lie within a few tenths


def calibrate_prompts(card: dict[str, Any]) -> None:
    """What makes logits the probability that a memory helps; that one answers, `fit_decision.py` fits."""
    names = ("helps", "cosine", "is_turn", "is_code", "answers")
    told, right = handed_over(names)
    scale = [WIDER.get(name, 1.0) for name in names]
    fitted = logistic(
        [[value * by for value, by in zip(row, scale, strict=True)] for row in told], right, [1.0] * len(told)
    )
    weights = [w * by for w, by in zip(fitted, (*scale, 1.0), strict=True)]
    card["calibration"]["helps"] = {name: round(w, 4) for name, w in zip((*names, "bias"), weights, strict=True)}
    print("helps", len(told), card["calibration"]["helps"])


def handed_over(names: Sequence[str]) -> tuple[list[list[float]], list[bool]]:
    """What the prompt hook reads for each prompt of the held authors, among other memories, and if it helps."""
    from recollect.models.reader import PairReader
    from recollect_eval import injection

    seen: list[tuple[str, dict[str, float]]] = []
    judge = PairReader.helps

    def record(own: PairReader, prompt: str, notes: Sequence[str], about: Sequence[Any]) -> list[float]:
        seen.extend((note, {**found, **read})
                    for note, found, read in zip(notes, about, own.read(prompt, notes), strict=True))  # fmt: skip
        return judge(own, prompt, notes, about)

    rows, helps = [], []
    PairReader.helps = record  # type: ignore[method-assign,assignment]
    for author in HELD_AUTHORS:
        for line in (base.PROMPTS / f"injection-{author}.jsonl").read_text("utf-8").splitlines():
            store = json.loads(line)
            texts = {one["id"]: one["text"] for one in store["memories"]}
            for prompt, _, _ in injection._asked(store, load_embedder()):
                right = tuple(texts[id] for id in (*prompt["needed"], *prompt.get("useful", ())))
                rows += [[float(read[name]) for name in names] for _, read in seen]
                helps += [note.endswith(right) if right else False for note, _ in seen]
                seen.clear()
    PairReader.helps = judge  # type: ignore[method-assign]
    return rows, helps


def load_embedder() -> Any:
    from recollect.models.embedder import load

    return load()


RELATED = HEADS[RELATIONS]
CUT = ("same", "opposed", "asks_same")
LIKENESS = ("shared", "one_place", "negation")
MOST = 4000  # pairs of a fold that calibrate


def sampled(pairs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most so many pairs of each fold."""
    by: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in pairs:
        by[one["fold"]].append(one)
    chance = random.Random(5)
    return [one for some in by.values() for one in chance.sample(some, min(MOST, len(some)))]


def balance(pairs: Sequence[dict[str, Any]]) -> list[float]:
    """What each pair counts: a fold of groups, whose others are made to mislead, a twentieth of any other fold."""
    counts: dict[str, int] = defaultdict(int)
    for one in pairs:
        counts[one["fold"]] += 1
    share = {fold: 0.05 if fold.startswith("groups") else 1.0 for fold in counts}
    return [len(pairs) * share[one["fold"]] / (sum(share.values()) * counts[one["fold"]]) for one in pairs]


def is_right(one: dict[str, Any], head: str) -> bool:
    label = one["label"]
    return (
        bool(label.get(head)) if isinstance(label, dict) else label == head if isinstance(label, str) else bool(label)
    )


def read_odds(reader: Any, one: dict[str, Any], heads: Sequence[str]) -> dict[str, float]:
    if heads == RELATED:
        return dict(reader.odds(one["a"], one["b"]))
    return {"asks_same": reader.asks_same_logit(one["a"], one["b"])}


def probability(weights: dict[str, float], known: dict[str, float]) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, sum(w * known.get(name, 1.0) for name, w in weights.items())))))


def forbidden(one: dict[str, Any], head: str) -> bool:
    """Whether a rule forbids what a head says, so that its probability decides nothing."""
    from recollect.language.vetoes import elsewhere

    if head == "opposed":
        return elsewhere(one["a"], one["b"])
    return head in CUT and vetoed(one)


def vetoed(one: dict[str, Any]) -> bool:
    from recollect.language.vetoes import differences, exchanged

    asked = one.get("task", "asks_same") == "asks_same"
    return bool(differences(one["a"], one["b"])) or (asked and exchanged(one["a"], one["b"]))


def refused(reader: Any, card: dict[str, Any]) -> None:
    """Raise the cuts of serving above every pair of questions that must be refused and that no veto forbids."""
    from recollect.language.vetoes import likeness
    from recollect_eval.answers import pairs

    told = [{"a": one.asked, "b": one.known} for one in pairs("refuse")]
    sure = sorted(
        (probability(card["calibration"]["asks_same"],
                     {**read_odds(reader, one, ("asks_same",)), **likeness(one["a"], one["b"])}), one["a"], one["b"])
        for one in told if not vetoed(one)
    )  # fmt: skip
    least = round(sure[-1][0] + 5e-5, 5)
    cuts = card["cuts"]["asks_same"]
    for risk in ("0.005", "0.01", "0.05"):
        cuts[risk] = max(cuts.get(risk, least), least)
    print("refused, the highest:", sure[-4:])


def logistic(rows: Sequence[Sequence[float]], right: Sequence[bool], weights: Sequence[float]) -> list[float]:
    """The weights of some features and a bias, by Newton's method; the first feature is expected to weigh one."""
    import numpy as np

    x = np.concatenate([np.array(rows, float), np.ones((len(rows), 1))], 1)
    y, w = np.array(right, float), np.array(weights)
    theta = first = np.array([1.0, *[0.0] * (x.shape[1] - 1)])
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(x @ theta, -30, 30)))
        slope = x.T @ (w * (p - y)) + 2 * (theta - first)
        theta = theta - 0.5 * np.linalg.solve((x * (w * p * (1 - p))[:, None]).T @ x + 2 * np.eye(x.shape[1]), slope)
    return [float(one) for one in theta]


def cuts(
    sure: Sequence[float], right: Sequence[bool], weights: Sequence[float], free: Sequence[bool]
) -> dict[str, float]:
    """For each risk the lowest probability above which no more are wrong, half a mistake more than was seen.

    Where there are too few pairs to show a risk, the cut lies above the most probable wrong one.
    """
    order = sorted((n for n in range(len(sure)) if free[n]), key=lambda n: -sure[n])
    found: dict[str, float] = {}
    wrong = total = 0.0
    for n in order:
        total += weights[n]
        wrong += weights[n] * (not right[n])
        for risk in RISKS:
            if (wrong + 0.5) / (total + 0.5) <= risk:
                found[str(risk)] = round(sure[n], 5)
    highest = round(max((sure[n] for n in order if not right[n]), default=1.0) + 5e-5, 5)
    return {str(risk): found.get(str(risk), highest) for risk in RISKS}


def curve(sure: Sequence[float], right: Sequence[bool], weights: Sequence[float]) -> str:
    """The reliability: what is said and how often it is so, for each tenth that has pairs."""
    parts = []
    for place in range(10):
        own = [n for n, p in enumerate(sure) if min(int(10 * p), 9) == place]
        if own:
            total = sum(weights[n] for n in own)
            said = sum(weights[n] * sure[n] for n in own) / total
            parts.append(f"{said:.2f}:{sum(weights[n] * right[n] for n in own) / total:.2f}")
    return " ".join(parts)


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    fitting = verbs.add_parser("fit")
    fitting.add_argument("pairs", type=Path)
    fitting.add_argument("out", type=Path)
    fitting.add_argument("--begin", type=Path, default=base.TARGET, help="the folder of the weights to begin from")
    fitting.add_argument("--hold", default="", help="folds that judge and are not learnt from, by commas")
    fitting.add_argument("--minutes", type=float, default=45, help="of CPU time, so that a busy machine fits as much")
    fitting.add_argument("--rate", type=float, default=RATE)
    fitting.add_argument("--floor", type=float, default=0.0, help="the share of the rate that is left at the end")
    fitting.add_argument("--task", default="", help="the one task to fit; the rest is left to other weights")
    fitting.add_argument("--freeze", type=int, default=2, help="the lowest layers, which stay as they are")
    fitting.add_argument("--resume", type=Path, help="the state.pt of a run to go on from")
    fitting.add_argument("--every", type=float, default=10, help="minutes between two looks at the held folds")
    building = verbs.add_parser("build")
    building.add_argument("out", type=Path)
    building.add_argument("--to", type=Path, default=base.TARGET)
    calibrating = verbs.add_parser("calibrate")
    calibrating.add_argument("pairs", type=Path)
    calibrating.add_argument("--to", type=Path, default=base.TARGET)
    calibrating.add_argument("--hold", default="")
    args = parser.parse_args()
    if args.verb == "build":
        build(args.out, args.to)
        return
    if args.verb == "calibrate":
        calibrate(args.pairs, args.to, set(args.hold.split(",")))
        return
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    pairs = read(args.pairs)
    held = set(args.hold.split(","))
    judging = [one for one in pairs if one.fold in held and args.task in ("", one.task)]
    random.Random(1).shuffle(judging)
    learnt = [one for one in pairs if one.fold not in held and args.task in ("", one.task)]
    print(f"{len(learnt)} pairs to learn from, {len(judging)} to judge by", flush=True)
    fit(learnt, judging, args)


if __name__ == "__main__":
    main()
