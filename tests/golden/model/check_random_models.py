#!/usr/bin/env python3
"""Random model folders, tiny: odb-trainer gives the loss of transformers on a fixed text, or refuses by name.

    .cache/transformers/bin/python tests/golden/model/check_random_models.py build/release/odb-trainer [COUNT] [SEED]

The suite runs 20; 200 take a few minutes. Configuration, types of the weights, shards and the spelling of the files are
drawn. Half of the folders are changed afterwards: harmlessly, so that the loss must stay, or so that they are refused
with the file, tensor or key in the message. The environment is that of scripts/transformers_venv.sh.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config
from transformers.utils import logging

TEXT_LENGTH = 24
MOST_APART = 2e-4
REFUSALS = (2, 4)  # exit codes


def rope_scaling(draw):
    original = draw.choice([8, 16, 64])
    return draw.choice([
        None,
        {"rope_type": "linear", "factor": draw.choice([2.0, 4.0])},
        {"rope_type": "dynamic", "factor": 2.0},
        {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
         "original_max_position_embeddings": original},
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": original}])


def random_config(draw):
    family = draw.choice([Qwen2Config, Qwen3Config, LlamaConfig])
    key_value_heads = draw.choice([1, 2])
    heads = key_value_heads * draw.choice([1, 2, 3])
    head_size = draw.choice([4, 8, 16])
    settings = dict(vocab_size=draw.randint(30, 90), hidden_size=heads * head_size, intermediate_size=draw.choice([8, 24, 40]),
                    num_hidden_layers=draw.randint(1, 3), num_attention_heads=heads, num_key_value_heads=key_value_heads,
                    tie_word_embeddings=draw.random() < 0.5, rms_norm_eps=draw.choice([1e-5, 1e-6]), initializer_range=0.3,
                    rope_theta=draw.choice([10000.0, 500000.0, 1e6]), rope_scaling=rope_scaling(draw),
                    max_position_embeddings=draw.choice([16, 64, 4096]), bos_token_id=1, eos_token_id=2)
    if family is not Qwen2Config:
        settings.update(head_dim=head_size, attention_bias=draw.random() < 0.3)
        if draw.random() < 0.5:
            settings["hidden_size"] = draw.choice([12, 20, 32])  # not heads times head size
    if family is LlamaConfig:
        settings["mlp_bias"] = draw.random() < 0.3
    return family(**settings)


def save_random(draw, folder):
    torch.manual_seed(draw.randrange(1 << 30))
    model = AutoModelForCausalLM.from_config(random_config(draw))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 1:  # norms and biases begin as ones and zeros
                weight.add_(torch.randn_like(weight) * 0.2)
    model.to(draw.choice([torch.float32, torch.bfloat16, torch.float16])).save_pretrained(
        folder, max_shard_size=draw.choice(["5GB", "20KB"]))


def loss_in_transformers(folder, ids):
    model, loading = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    assert not any(loading.values()), f"{folder}: {loading}"
    with torch.no_grad():
        return model(torch.tensor([ids]), labels=torch.tensor([ids])).loss.item()


class Folder:
    def __init__(self, path):
        self.path = path
        self.config = json.loads((path / "config.json").read_text())

    def set(self, **keys):
        self.config.update(keys)
        (self.path / "config.json").write_text(json.dumps(self.config))

    def weights(self):
        """All tensors; the files are then one file of the same."""
        tensors = {}
        for file in sorted(self.path.glob("*.safetensors")):
            tensors.update(load_file(file))
            file.unlink()
        (self.path / "model.safetensors.index.json").unlink(missing_ok=True)
        return tensors

    def save(self, tensors, metadata={"format": "pt"}):
        save_file(tensors, self.path / "model.safetensors", metadata=metadata)

    def edit(self, change):
        tensors = self.weights()
        named = change(tensors)
        self.save(tensors)
        return named


# Harmless changes: the loss stays.
def null_metadata(draw, folder):
    folder.save(folder.weights(), metadata=None)
    path = folder.path / "model.safetensors"
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = b'{"__metadata__":null,' + data[8:8 + length].lstrip(b"{")
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + length:])


def prefixed(draw, folder):
    prefix = draw.choice(["_orig_mod.", "module.", "module._orig_mod."])
    folder.save({prefix + name: tensor for name, tensor in folder.weights().items()})


def both_dtypes(draw, folder):
    folder.set(dtype="bfloat16", torch_dtype="float32")


def rope_table(draw, folder):
    folder.edit(lambda tensors: tensors.update({"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(2)}))


def other_keys(draw, folder):
    folder.set(use_cache=False, transformers_version="5.0.0", some_new_key={"a": [1]})


def newer_rope(draw, folder):
    folder.set(rope_parameters={"rope_type": "default", **(folder.config.pop("rope_scaling") or {}),
                                "rope_theta": folder.config.pop("rope_theta")})


# Changes that must be refused; they return what the message names.
def lacking(draw, folder):
    def change(tensors):
        name = draw.choice(sorted(tensors))
        del tensors[name]
        tensors["something.else"] = torch.ones(1)
        return name
    return folder.edit(change)


def misshapen(draw, folder):
    def change(tensors):
        name = draw.choice(sorted(tensors))
        tensors[name] = torch.cat([tensors[name], tensors[name]])
        return name
    return folder.edit(change)


def foreign_names(draw, folder):
    folder.save({"transformer." + name: tensor for name, tensor in folder.weights().items()})
    return "transformer.model.norm.weight" if len(load_file(folder.path / "model.safetensors")) < 8 else "transformer."


def of_integers(draw, folder):
    def change(tensors):
        name = draw.choice(sorted(tensors))
        tensors[name] = tensors[name].to(torch.int8)
        return name
    return folder.edit(change)


def truncated(draw, folder):
    path = draw.choice(sorted(folder.path.glob("*.safetensors")))
    path.write_bytes(path.read_bytes()[:-draw.randint(1, 60)])
    return path.name


def other_index(draw, folder):
    tensors = folder.weights()
    folder.save(tensors)
    names = {name: "model-00001-of-00001.safetensors" for name in tensors} | {"another.weight": "model-00001-of-00001.safetensors"}
    (folder.path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": names}))
    return "another.weight"


def setting(**keys):
    def change(draw, folder):
        folder.set(**keys)
        return next(iter(keys))
    change.__name__ = f"setting {keys}"
    return change


HARMLESS = [null_metadata, prefixed, both_dtypes, rope_table, other_keys, newer_rope]
REFUSED = [lacking, misshapen, foreign_names, of_integers, truncated, other_index, setting(hidden_act="gelu"),
           setting(rope_scaling={"rope_type": "spiral", "factor": 2.0}), setting(quantization_config={"bits": 4}),
           setting(attention_dropout=0.1), setting(num_key_value_heads=7), setting(partial_rotary_factor=0.5),
           setting(model_type="gpt2"), setting(vocab_size=10 ** 12), setting(num_hidden_layers=0)]


def check(trainer, number, seed, place):
    draw = random.Random(f"{seed} {number}")
    path = place / str(number)
    save_random(draw, path)
    folder = Folder(path)
    ids = [draw.randrange(folder.config["vocab_size"]) for _ in range(TEXT_LENGTH)]
    expected = loss_in_transformers(path, ids)
    change, named = None, None
    if draw.random() < 0.5:
        change = draw.choice(HARMLESS + REFUSED)
        named = change(draw, folder)
    (place / "batches.json").write_text(json.dumps({"batches": [{"tokens": [ids], "labels": [ids]}]}))
    run = subprocess.run([str(trainer), "bench", "model", "--model", str(path), "--batches", str(place / "batches.json"),
                          "--rounds", "1", "--threads", "1"], capture_output=True, text=True)
    what = f"folder {number} of seed {seed} ({folder.config['model_type']}, {change.__name__ if change else 'unchanged'})"
    if change in REFUSED:
        assert run.returncode in REFUSALS, f"{what}: exit code {run.returncode}, expected a refusal: {run.stdout}{run.stderr}"
        assert named in run.stderr, f"{what}: the message does not name {named}: {run.stderr}"
        return "refused"
    assert run.returncode == 0, f"{what}: {run.stderr}"
    loss = json.loads(run.stdout)["loss"]
    assert abs(loss - expected) < MOST_APART * max(1, expected), f"{what}: loss {loss}, in transformers {expected}"
    return "equal"


def main():
    trainer = Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    results, faults = [], []
    with tempfile.TemporaryDirectory() as name:
        for number in range(count):
            try:
                results.append(check(trainer, number, seed, Path(name)))
            except AssertionError as fault:
                faults.append(str(fault))
    print(f"{count} folders of seed {seed}: {results.count('equal')} with equal losses, {results.count('refused')} refused by name")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
