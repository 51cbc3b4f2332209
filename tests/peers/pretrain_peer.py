#!/usr/bin/env python3
"""The PyTorch peer of eflops-pretrain: the same StructBERT, batches, optimiser and threads, timed for one launch.

Prints one JSON line: real tokens per second, losses, peak memory. Needs torch (scripts/install-deps peers).

Batches are synthetic, or --batch instances at a time of what `eflops-data dump --format json` printed:
  {"ids": [...], "segments": [...], "predicted": [{"position": 4, "label": 2003}, ...], "sentence_label": 0}
They are padded to the longest instance of the batch, as a PyTorch training loop does.
"""

import argparse
import json
import math
import pathlib
import resource
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

SIZES = {  # layers, width, heads
    "tiny": (2, 128, 2),
    "mini": (4, 256, 4),
    "small": (4, 512, 8),
    "base": (12, 768, 12),
    "large": (24, 1024, 16),
}
VOCABULARY = 30522
FIRST_ORDINARY = 1000  # ids below are special or unused in BERT's vocabularies
MASK_ID = 103


class Layer(nn.Module):
    """One post-LN encoder layer (Devlin et al. 2019, figure 1 left; Vaswani et al. 2017, section 3.1)."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.inner = nn.Linear(width, 4 * width)
        self.outer = nn.Linear(4 * width, width)
        self.output_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, mask):
        """x: (B, T, H); mask: (B, 1, 1, T), true where there is a token, or None."""
        b, t, h = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
        dropped = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropped)
        attended = self.projection(attended.transpose(1, 2).reshape(b, t, h))
        x = self.attention_norm(x + F.dropout(attended, self.dropout, self.training))
        inner = self.outer(F.gelu(self.inner(x)))
        return self.output_norm(x + F.dropout(inner, self.dropout, self.training))


class StructBert(nn.Module):
    """Encoder, tied MLM head on the predicted rows only, and the three-way sentence head; forward gives the loss."""

    def __init__(self, size, positions, dropout):
        super().__init__()
        layers, width, heads = SIZES[size]
        self.dropout = dropout
        self.words = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Embedding(positions, width)
        self.segments = nn.Embedding(2, width)
        self.embedding_norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, dropout) for _ in range(layers))
        self.pooler = nn.Linear(width, width)
        self.order = nn.Linear(width, 3)
        self.transform = nn.Linear(width, width)
        self.transform_norm = nn.LayerNorm(width, eps=1e-12)
        self.output_bias = nn.Parameter(torch.zeros(VOCABULARY))
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        """BERT's initialisation: normal with deviation 0.02, biases 0."""
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    def forward(self, batch):
        """Mean loss over predictions plus mean loss over sentence pairs."""
        t = batch["tokens"].shape[1]
        x = self.words(batch["tokens"]) + self.positions.weight[:t] + self.segments(batch["segments"])
        x = F.dropout(self.embedding_norm(x), self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, batch["mask"])
        rows = x.reshape(-1, x.shape[-1]).index_select(0, batch["rows"])
        rows = self.transform_norm(F.gelu(self.transform(rows)))
        logits = F.linear(rows, self.words.weight, self.output_bias)
        order = self.order(torch.tanh(self.pooler(x[:, 0])))
        return F.cross_entropy(logits.float(), batch["labels"]) + F.cross_entropy(order.float(), batch["sentences"])


def padded(instances):
    """One batch of instances as tensors, padded to the longest, with its number of real tokens."""
    lengths = [len(instance["ids"]) for instance in instances]
    longest = max(lengths)
    fill = lambda key: torch.tensor([i[key] + [0] * (longest - len(i["ids"])) for i in instances])
    rows = [n * longest + predicted["position"] for n, i in enumerate(instances) for predicted in i["predicted"]]
    labels = [predicted["label"] for i in instances for predicted in i["predicted"]]
    present = torch.arange(longest)[None, :] < torch.tensor(lengths)[:, None]
    return {
        "tokens": fill("ids"),
        "segments": fill("segments"),
        "mask": None if min(lengths) == longest else present[:, None, None, :],
        "rows": torch.tensor(rows),
        "labels": torch.tensor(labels),
        "sentences": torch.tensor([i["sentence_label"] for i in instances]),
    }, sum(lengths)


def synthetic(batch, length, count, seed=1):
    """Batches of full length: 15 % of the tokens masked, and 5 % trigrams predicted on all three positions."""
    random = torch.Generator().manual_seed(seed)
    predicted = round(0.15 * (length - 3)) + 3 * max(1, round(0.05 * (length - 3)))
    batches = []
    for _ in range(count):
        instances = []
        for _ in range(batch):
            ids = torch.randint(FIRST_ORDINARY, VOCABULARY, (length,), generator=random).tolist()
            places = sorted((1 + torch.randperm(length - 2, generator=random)[:predicted]).tolist())
            targets = [{"position": at, "label": ids[at]} for at in places]
            for at in places[::2]:
                ids[at] = MASK_ID
            segments = [0] * (length // 2) + [1] * (length - length // 2)
            label = len(instances) % 3
            instances.append({"ids": ids, "segments": segments, "predicted": targets, "sentence_label": label})
        batches.append(instances)
    return batches


def read_batches(path, size):
    """The instances of a file in order, `size` to a batch; a last short batch is left out."""
    with path.open(encoding="utf-8") as lines:
        instances = [json.loads(line) for line in lines if line.strip()]
    if len(instances) < size:
        sys.exit(f"pretrain_peer: {path} holds {len(instances)} instances; a batch needs {size}")
    return [instances[at : at + size] for at in range(0, len(instances) - size + 1, size)]


def optimiser_of(model):
    """AdamW with BERT's exclusions from decay, fused where this torch offers it on CPUs."""
    decayed = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
    settings = {"lr": 1e-4, "betas": (0.9, 0.999), "eps": 1e-6}
    try:
        return torch.optim.AdamW(groups, fused=True, **settings), True
    except (RuntimeError, TypeError):
        return torch.optim.AdamW(groups, foreach=True, **settings), False


def timed(arguments, batches):
    """Trains warm-up and measured steps over the batches in turn; the figures of the measured ones."""
    torch.manual_seed(1)
    longest = max(len(instance["ids"]) for batch in batches for instance in batch)
    model = StructBert(arguments.model, max(512, longest), arguments.dropout).train()
    optimiser, fused = optimiser_of(model)
    forward = torch.compile(model) if arguments.mode == "compile" else model
    autocast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=arguments.dtype == "bf16")
    seconds, tokens, losses = [], [], []
    for step in range(arguments.warmup + arguments.steps):
        begin = time.perf_counter()
        batch, real = padded(batches[step % len(batches)])
        with autocast:
            loss = forward(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        losses.append(loss.item())
        if step >= arguments.warmup:
            seconds.append(time.perf_counter() - begin)
            tokens.append(real)
    if not all(map(math.isfinite, losses)):
        sys.exit(f"pretrain_peer: a loss is not finite: {losses}")
    return {
        # As eflops-pretrain counts: mean tokens of a step over its median time.
        "tokens_per_second": statistics.mean(tokens) / statistics.median(seconds),
        "median_step_s": statistics.median(seconds),
        "steps": len(seconds),
        "tokens": sum(tokens),
        "loss_first": losses[0],
        "loss_last": losses[-1],
        "fused_adamw": fused,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=SIZES, default="base")
    parser.add_argument("--batch", type=int, default=8, help="instances of a batch")
    parser.add_argument("--length", type=int, default=128, help="tokens of a synthetic instance")
    parser.add_argument(
        "--instances", type=pathlib.Path, help="JSON-lines file of instances in place of synthetic ones"
    )
    parser.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32", help="bf16 is autocast")
    parser.add_argument("--mode", choices=("eager", "compile"), default="eager")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10, help="measured steps")
    parser.add_argument("--warmup", type=int, default=3, help="steps before them; at least one over every batch shape")
    parser.add_argument("--dropout", type=float, default=0.1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_num_interop_threads(1)
    if arguments.instances:
        batches = read_batches(arguments.instances, arguments.batch)
    else:
        batches = synthetic(arguments.batch, arguments.length, 4)
    result = timed(arguments, batches)
    result["peak_rss_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    result["version"] = f"torch {torch.__version__}"
    result |= {key: getattr(arguments, key) for key in ("model", "dtype", "mode", "threads", "dropout")}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
