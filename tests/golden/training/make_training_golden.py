#!/usr/bin/env python3
"""Writes tests/golden/training/curves.safetensors: the results of transformers and torch in 200 training steps.

    python3 -m venv .cache/model-golden
    .cache/model-golden/bin/pip install torch==2.13.0 transformers==4.57.6 safetensors==0.8.0
    .cache/model-golden/bin/python tests/golden/training/make_training_golden.py

The run starts from tests/golden/model/qwen3_untied and goes through the same 40 batches five times; step s takes batch
s % 40. AdamW with weight decay 0.1 on matrices alone, gradients clipped to norm 1, float32, one thread.

    tokens, labels      of all batches, row after row (labels unshifted, -100 ignored)
    lengths             of the rows
    rows                of each batch
    loss.NAME, norm.NAME, lr.NAME    float64 [200]: mean loss over the supervised tokens before the step, gradient norm
                                     before clipping, learning rate of the step
    weight.NAME.WEIGHT  some weights after the last step

NAME is the learning rate's schedule: constant, or cosine with a warm-up of 20 steps. LR is the highest rate.
"""
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, get_constant_schedule, get_cosine_schedule_with_warmup

HERE = Path(__file__).resolve().parent
START = HERE.parent / "model" / "qwen3_untied"
STEPS, BATCHES, WARMUP, LR = 200, 40, 20, 2e-3
KEPT = ("model.embed_tokens.weight", "model.layers.1.mlp.down_proj.weight", "model.norm.weight", "lm_head.weight")


def make_rows():
    batches = []
    for _ in range(BATCHES):
        batch = []
        for _ in range(int(torch.randint(1, 5, ()))):
            tokens = torch.randint(2, 64, (int(torch.randint(3, 13, ())),))
            labels = torch.where(torch.rand(len(tokens)) < 0.6, tokens, -100)
            labels[0], labels[-1] = -100, tokens[-1]
            batch.append((tokens, labels))
        batches.append(batch)
    return batches


def padded(batch):
    longest = max(len(tokens) for tokens, _ in batch)
    pad = lambda row, value: torch.nn.functional.pad(row, (0, longest - len(row)), value=value)
    return dict(input_ids=torch.stack([pad(tokens, 0) for tokens, _ in batch]),
                attention_mask=torch.stack([pad(torch.ones_like(tokens), 0) for tokens, _ in batch]),
                labels=torch.stack([pad(labels, -100) for _, labels in batch]))


def train(batches, schedule_of):
    model = AutoModelForCausalLM.from_pretrained(START, attn_implementation="sdpa", dtype=torch.float32)
    parameters = dict(model.named_parameters())
    optimizer = torch.optim.AdamW(
        [dict(params=[p for p in parameters.values() if p.dim() > 1], weight_decay=0.1),
         dict(params=[p for p in parameters.values() if p.dim() == 1], weight_decay=0.0)], lr=LR)
    schedule = schedule_of(optimizer)
    curve = dict(loss=[], norm=[], lr=[])
    for step in range(STEPS):
        batch = batches[step % BATCHES]
        supervised = sum(int((labels != -100).sum()) for _, labels in batch)
        loss = model(**padded(batch), num_items_in_batch=supervised).loss
        loss.backward()
        curve["loss"].append(loss.item())
        curve["norm"].append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        curve["lr"].append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return curve, {name: parameters[name].detach().clone() for name in KEPT}


def main():
    torch.manual_seed(20261130)
    torch.set_num_threads(1)
    batches = make_rows()
    rows = [row for batch in batches for row in batch]
    result = dict(tokens=torch.cat([tokens for tokens, _ in rows]), labels=torch.cat([labels for _, labels in rows]),
                  lengths=torch.tensor([len(tokens) for tokens, _ in rows]),
                  rows=torch.tensor([len(batch) for batch in batches]))
    schedules = {"constant": get_constant_schedule,
                 "cosine": lambda optimizer: get_cosine_schedule_with_warmup(optimizer, WARMUP, STEPS)}
    for name, schedule_of in schedules.items():
        curve, weights = train(batches, schedule_of)
        print(name, curve["loss"][:3], curve["loss"][-3:], max(curve["norm"]), min(curve["norm"]))
        result.update({f"{key}.{name}": torch.tensor(values, dtype=torch.float64) for key, values in curve.items()})
        result.update({f"weight.{name}.{weight}": tensor for weight, tensor in weights.items()})
    save_file(result, HERE / "curves.safetensors")


if __name__ == "__main__":
    main()
