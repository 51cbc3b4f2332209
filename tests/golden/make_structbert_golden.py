"""Writes structbert_tiny.{json,safetensors}: a small StructBERT in PyTorch, float64, for tests/models to compare with.

    python3 tests/golden/make_structbert_golden.py tests/golden

Needs torch and safetensors (any recent version). Sequences are run one by one, so there is no padding to get wrong.
Adam's epsilon is 1e-3: with a tiny epsilon the first updates are sign(gradient), and rounding decides the sign of gradients
that should be zero (a key's bias has none).
"""
import json
import math
import pathlib
import sys

import torch
from safetensors.torch import save_file

torch.set_default_dtype(torch.float64)

CONFIG = dict(layers=2, hidden=32, heads=4, intermediate=64, vocabulary=101, positions=24, segments=2,
              layer_norm_epsilon=1e-12, sentence_classes=3)
ADAM = dict(learning_rate=1e-2, beta1=0.9, beta2=0.999, epsilon=1e-3, weight_decay=0.01, max_gradient_norm=1.0)
LENGTHS = [7, 13, 1, 20]
STEPS = 5


def make_batch(generator):
    offsets = [0]
    for length in LENGTHS:
        offsets.append(offsets[-1] + length)
    draw = lambda high, count: torch.randint(0, high, (count,), generator=generator).tolist()
    positions = [i for length in LENGTHS for i in range(length)]
    segments = [int(i >= length // 2) for length in LENGTHS for i in range(length)]
    rows = [2, 5, 8, 9, 12, 18, 20, 25, 33, 40]
    labels = draw(CONFIG["vocabulary"], len(rows))
    labels[3] = -100
    return dict(tokens=draw(CONFIG["vocabulary"], offsets[-1]), segments=segments, positions=positions, offsets=offsets,
                predicted_rows=rows, predicted_labels=labels, sentence_labels=[0, 2, -100, 1])


def make_parameters(generator):
    """Every parameter random, also those that training starts at 0 and 1; exact in float32."""
    h, i, v = CONFIG["hidden"], CONFIG["intermediate"], CONFIG["vocabulary"]
    shapes = {"bert.embeddings.word_embeddings.weight": (v, h),
              "bert.embeddings.position_embeddings.weight": (CONFIG["positions"], h),
              "bert.embeddings.token_type_embeddings.weight": (CONFIG["segments"], h),
              "bert.embeddings.LayerNorm": (h,)}
    for layer in range(CONFIG["layers"]):
        name = f"bert.encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            shapes[name + "attention.self." + part] = (h, h)
        shapes[name + "attention.output.dense"] = (h, h)
        shapes[name + "attention.output.LayerNorm"] = (h,)
        shapes[name + "intermediate.dense"] = (i, h)
        shapes[name + "output.dense"] = (h, i)
        shapes[name + "output.LayerNorm"] = (h,)
    shapes["bert.pooler.dense"] = (h, h)
    shapes["cls.predictions.bias"] = (v,)
    shapes["cls.predictions.transform.dense"] = (h, h)
    shapes["cls.predictions.transform.LayerNorm"] = (h,)
    shapes["cls.seq_relationship"] = (CONFIG["sentence_classes"], h)

    parameters = {}

    def add(name, shape, mean, deviation):
        value = mean + deviation * torch.randn(shape, generator=generator)
        parameters[name] = value.float().double().requires_grad_()

    for name, shape in shapes.items():
        if name.endswith("LayerNorm"):
            add(name + ".weight", shape, 1.0, 0.1)
            add(name + ".bias", shape, 0.0, 0.1)
        elif name.endswith("embeddings.weight"):
            add(name, shape, 0.0, 0.3)
        elif name.endswith("predictions.bias"):
            add(name, shape, 0.0, 0.1)
        else:
            add(name + ".weight", shape, 0.0, 0.15)
            add(name + ".bias", shape[:1], 0.0, 0.1)
    return parameters


def linear(p, name, x):
    return x @ p[name + ".weight"].T + p[name + ".bias"]


def norm(p, name, x):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    unit = (x - mean) / torch.sqrt(variance + CONFIG["layer_norm_epsilon"])
    return unit * p[name + ".weight"] + p[name + ".bias"]


def gelu(x, kind):
    if kind == "erf":
        return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x ** 3)))


def attention(p, name, x):
    heads, size = CONFIG["heads"], CONFIG["hidden"] // CONFIG["heads"]
    split = lambda part: linear(p, name + "attention.self." + part, x).reshape(-1, heads, size).transpose(0, 1)
    q, k, v = split("query"), split("key"), split("value")
    probabilities = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(size), -1)
    return (probabilities @ v).transpose(0, 1).reshape(-1, CONFIG["hidden"])


def encode(p, batch, first, last, kind):
    index = lambda key: torch.tensor(batch[key][first:last])
    x = (p["bert.embeddings.word_embeddings.weight"][index("tokens")]
         + p["bert.embeddings.position_embeddings.weight"][index("positions")]
         + p["bert.embeddings.token_type_embeddings.weight"][index("segments")])
    x = norm(p, "bert.embeddings.LayerNorm", x)
    for layer in range(CONFIG["layers"]):
        name = f"bert.encoder.layer.{layer}."
        x = norm(p, name + "attention.output.LayerNorm",
                 x + linear(p, name + "attention.output.dense", attention(p, name, x)))
        inner = gelu(linear(p, name + "intermediate.dense", x), kind)
        x = norm(p, name + "output.LayerNorm", x + linear(p, name + "output.dense", inner))
    return x


def forward(p, batch, kind="erf"):
    offsets = batch["offsets"]
    hidden = torch.cat([encode(p, batch, a, b, kind) for a, b in zip(offsets, offsets[1:])])
    picked = gelu(linear(p, "cls.predictions.transform.dense", hidden[batch["predicted_rows"]]), kind)
    picked = norm(p, "cls.predictions.transform.LayerNorm", picked)
    masked = picked @ p["bert.embeddings.word_embeddings.weight"].T + p["cls.predictions.bias"]
    pooled = torch.tanh(linear(p, "bert.pooler.dense", hidden[offsets[:-1]]))
    return hidden, masked, linear(p, "cls.seq_relationship", pooled)


def loss_sum(logits, labels):
    kept = [(row, label) for row, label in enumerate(labels) if label != -100]
    rows, targets = zip(*kept)
    return -torch.log_softmax(logits, -1)[list(rows), list(targets)].sum(), len(kept)


def loss_of(masked, sentence, batch):
    masked_sum, masked_count = loss_sum(masked, batch["predicted_labels"])
    sentence_sum, sentence_count = loss_sum(sentence, batch["sentence_labels"])
    return masked_sum / masked_count + sentence_sum / sentence_count, masked_sum, sentence_sum


def decays(name):
    return not (name.endswith("bias") or "LayerNorm" in name)


def train(p, batch, tensors):
    groups = [dict(params=[v for n, v in p.items() if decays(n) == wanted],
                   weight_decay=ADAM["weight_decay"] if wanted else 0.0) for wanted in (True, False)]
    optimizer = torch.optim.AdamW(groups, lr=ADAM["learning_rate"], betas=(ADAM["beta1"], ADAM["beta2"]),
                                  eps=ADAM["epsilon"])
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss, _, _ = loss_of(*forward(p, batch)[1:], batch)
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            tensors.update({"gradient/" + n: v.grad.clone() for n, v in p.items()})
        total = math.sqrt(sum(float((v.grad ** 2).sum()) for v in p.values()))
        for v in p.values():
            v.grad *= min(1.0, ADAM["max_gradient_norm"] / total)
        optimizer.step()
    losses.append(loss_of(*forward(p, batch)[1:], batch)[0].item())
    tensors.update({"trained/" + n: v.detach().clone() for n, v in p.items()})
    return losses


def main(folder):
    generator = torch.Generator().manual_seed(20190813)
    batch = make_batch(generator)
    p = make_parameters(generator)
    tensors = {"initial/" + n: v.detach().clone() for n, v in p.items()}
    with torch.no_grad():
        hidden, masked, sentence = forward(p, batch)
        tensors |= dict(hidden=hidden, masked_logits=masked, sentence_logits=sentence)
        tensors["masked_logits_tanh"] = forward(p, batch, "tanh")[1]
        _, masked_sum, sentence_sum = loss_of(masked, sentence, batch)
    record = dict(config=CONFIG, adam=ADAM, batch=batch, masked_sum=masked_sum.item(), sentence_sum=sentence_sum.item())
    record["losses"] = train(p, batch, tensors)
    folder = pathlib.Path(folder)
    save_file({n: v.float().contiguous() for n, v in tensors.items()}, folder / "structbert_tiny.safetensors")
    (folder / "structbert_tiny.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"losses {record['losses']}")


if __name__ == "__main__":
    main(sys.argv[1])
