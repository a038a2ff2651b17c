#!/usr/bin/env python3
"""Writes the golden files of tests/golden/model: tiny random models and what transformers computes with them.

    python3 -m venv .cache/model-golden
    .cache/model-golden/bin/pip install torch==2.13.0 transformers==4.57.6 safetensors==0.8.0
    .cache/model-golden/bin/python tests/golden/model/make_model_golden.py

Each model is a folder with config.json and model.safetensors (float32), and answers.safetensors:

    tokens, labels      the rows' real tokens, one row after the other (labels as transformers takes them: unshifted)
    lengths             of the rows; transformers got them padded on the right, with an attention mask
    logits              [tokens, vocabulary], float32, SDPA
    loss                sum over supervised tokens
    grad.NAME           gradient of that sum for every published weight
    prompt, generated   greedy generation of 32 tokens, one row, no cache

loss/answers.safetensors holds the loss alone in float64: hidden, weight, labels, loss, grad.hidden, grad.weight.
"""
import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.loss.loss_utils import ForCausalLMLoss

HERE = Path(__file__).resolve().parent
LENGTHS = [11, 7, 16]
SIZES = dict(vocab_size=64, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=6,
             num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.3, bos_token_id=1, eos_token_id=None)
LLAMA3 = dict(rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)
# Models with all results and gradients, and those that only differ in their rotary embedding (logits only).
MODELS = {
    "qwen3_tied": ("qwen3", dict(head_dim=8, tie_word_embeddings=True, rope_theta=1e6)),
    "qwen3_untied": ("qwen3", dict(head_dim=8, tie_word_embeddings=False, rope_theta=1e6)),
    "qwen2": ("qwen2", dict(num_attention_heads=4, tie_word_embeddings=False, rope_theta=1e4)),
    "llama3": ("llama", dict(num_attention_heads=4, tie_word_embeddings=False, rope_theta=5e5, rope_scaling=LLAMA3)),
    "llama_biases": ("llama", dict(num_attention_heads=4, head_dim=8, attention_bias=True, mlp_bias=True,
                                   tie_word_embeddings=True)),
}
ROPES = {
    "rope_linear": dict(rope_type="linear", factor=3.0),
    "rope_dynamic": dict(rope_type="dynamic", factor=2.0),
    "rope_yarn": dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=8.0, beta_slow=2.0),
    "rope_yarn_scaled": dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16, mscale=0.7,
                             mscale_all_dim=0.3, truncate=False),
}


def make_model(model_type, options):
    config = AutoConfig.for_model(model_type, **{**SIZES, **options})
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, 0.3)
            elif "norm" in name:
                parameter.uniform_(0.5, 1.5)
    return model


def make_rows(lengths):
    tokens = [torch.randint(2, SIZES["vocab_size"], (length,)) for length in lengths]
    labels = [torch.where(torch.rand(len(row)) < 0.5, row, -100) for row in tokens]
    longest = max(lengths)
    pad = lambda rows, value: torch.stack([torch.nn.functional.pad(r, (0, longest - len(r)), value=value) for r in rows])
    mask = pad([torch.ones(length, dtype=torch.int64) for length in lengths], 0)
    return dict(input_ids=pad(tokens, 0), attention_mask=mask, labels=pad(labels, -100)), torch.cat(tokens), torch.cat(labels)


def answers(model, lengths, gradients):
    batch, tokens, labels = make_rows(lengths)
    out = model(**batch, num_items_in_batch=1)
    out.loss.backward()
    real = batch["attention_mask"].bool()
    result = dict(tokens=tokens, labels=labels, lengths=torch.tensor(lengths), logits=out.logits[real], loss=out.loss)
    if gradients:
        result.update({f"grad.{name}": p.grad for name, p in model.named_parameters()})
        prompt = torch.randint(2, SIZES["vocab_size"], (1, 5))
        generated = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=32,
                                   use_cache=False, pad_token_id=0)
        result.update(prompt=prompt[0], generated=generated[0, 5:])
    return {name: tensor.detach().contiguous() for name, tensor in result.items()}


def save(folder, model, result):
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    config = json.loads((folder / "config.json").read_text())
    config.pop("transformers_version", None)
    (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
    save_file(result, folder / "answers.safetensors")


def loss_alone():
    hidden = torch.randn(1, 23, 12, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(31, 12, dtype=torch.float64, requires_grad=True)
    labels = torch.where(torch.rand(1, 23) < 0.6, torch.randint(0, 31, (1, 23)), -100)
    # transformers computes its loss in float32; the same sum by torch's own function keeps float64.
    shifted = torch.nn.functional.pad(labels, (0, 1), value=-100)[:, 1:].flatten()
    logits = (hidden @ weight.t())[0]
    loss = torch.nn.functional.cross_entropy(logits, shifted, ignore_index=-100, reduction="sum")
    loss.backward()
    reference = ForCausalLMLoss(logits[None], labels, 31, num_items_in_batch=1)
    assert abs(reference.item() - loss.item()) < 1e-4
    folder = HERE / "loss"
    folder.mkdir(exist_ok=True)
    save_file({"hidden": hidden[0].detach().contiguous(), "weight": weight.detach(), "labels": labels[0],
               "loss": loss.detach(), "grad.hidden": hidden.grad[0].contiguous(), "grad.weight": weight.grad},
              folder / "answers.safetensors")


def main():
    torch.manual_seed(20261129)
    torch.set_num_threads(1)
    for name, (model_type, options) in MODELS.items():
        model = make_model(model_type, options)
        save(HERE / name, model, answers(model, LENGTHS, gradients=True))
    for name, scaling in ROPES.items():
        options = dict(head_dim=8, tie_word_embeddings=True, rope_theta=1e4, num_hidden_layers=1, rope_scaling=scaling)
        # One row, so that transformers' choice by the longest row of a batch is ours by the row itself.
        lengths = [40] if scaling["rope_type"] != "dynamic" else [90]
        model = make_model("qwen3", options)
        save(HERE / name, model, answers(model, lengths, gradients=False))
    loss_alone()


if __name__ == "__main__":
    main()
