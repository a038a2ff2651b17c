"""One rank of the reference stack, started by train_vs_reference.py: transformers, DDP over Gloo, batches from the reference
implementation of Online Dynamic Batching or of fixed size. One epoch, then the loss on the evaluation samples; rank 0
writes the measurements as JSON.

Its samples are token ids in memory, so its workers have nothing to render or encode.
"""
import json
import os
import pathlib
import sys
import time

os.environ["ODB_ITERATOR_STARTUP_JITTER_SEC"] = "0"  # the package waits up to two seconds otherwise
import odb
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from transformers import AutoModelForCausalLM

IGNORED = -100


class Samples(Dataset):
    def __init__(self, path):
        self.samples = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        sample = self.samples[index]
        return {"input_ids": torch.tensor(sample["input_ids"]), "labels": torch.tensor(sample["labels"]),
                "attention_mask": torch.ones(len(sample["input_ids"]), dtype=torch.long)}


def collate(samples):
    fills = {"input_ids": 0, "labels": IGNORED, "attention_mask": 0}
    return {key: torch.nn.utils.rnn.pad_sequence([sample[key] for sample in samples], batch_first=True,
                                                 padding_value=fill) for key, fill in fills.items()}


def odb_batches(samples, settings):
    """(batch, factor of its mean loss) as in the package's own quick start, weighted by tokens. Its buffer is as large as there
    (4 workers of 64 samples) with one worker, and full from the start: otherwise so short an epoch ends before it is full."""
    sampler = DistributedSampler(samples, shuffle=True, seed=settings["seed"])
    loader = odb.ODBDataLoader(samples, token_budget=settings["l_max"], batch_size=1, sampler=sampler, num_workers=1,
                               prefetch_factor=256, collate_fn=collate, loss_scaling="exact", join=True, no_warmup=True)
    for batch in loader:
        info = odb.pop_step_info(batch, loss_scaling="exact")
        yield batch, info.loss_scale


def fixed_batches(samples, settings):
    """The same for batches of one size; the number of supervised tokens of a step takes one small all-reduce."""
    sampler = DistributedSampler(samples, shuffle=True, seed=settings["seed"])
    for batch in DataLoader(samples, batch_size=settings["batch_size"], sampler=sampler, num_workers=1, collate_fn=collate):
        own = (batch["labels"][:, 1:] != IGNORED).sum()
        everywhere = own.clone()
        dist.all_reduce(everywhere)
        yield batch, (own / everywhere.clamp(min=1)).item() * dist.get_world_size()


def train(model, settings, started):
    """[{seconds, wait, tokens, loss}] of this rank's steps, and the seconds from the start to the end of the first step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings["lr"], weight_decay=0, fused=True)
    samples = Samples(settings["train"])
    batches = iter((odb_batches if settings["batch_size"] is None else fixed_batches)(samples, settings))
    steps, first = [], 0.0
    with model.join():
        begin = time.monotonic()
        while (found := next(batches, None)) is not None:
            batch, scale = found
            waited = time.monotonic() - begin
            optimizer.zero_grad()
            loss = model(**batch, use_cache=False).loss
            (loss * scale).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            end = time.monotonic()
            first = first or end - started
            steps.append({"seconds": end - begin, "wait": waited, "tokens": int(batch["attention_mask"].sum()),
                          "loss": loss.item()})
            begin = end
    return steps, first


def evaluate(model, path):
    total, count = 0.0, 0
    with torch.no_grad():
        for sample in Samples(path):
            labels = sample["labels"][None]
            loss = model(input_ids=sample["input_ids"][None], labels=labels, num_items_in_batch=1, use_cache=False).loss
            total += loss.item()
            count += int((labels[:, 1:] != IGNORED).sum())
    return total / count


def main():
    settings, rank, started = json.loads(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{settings['store']}", rank=rank, world_size=settings["world"])
    model = AutoModelForCausalLM.from_pretrained(settings["model"], attn_implementation="sdpa", dtype=torch.float32).train()
    steps, first = train(DistributedDataParallel(model), settings, started)
    all_steps = [None] * settings["world"]
    dist.all_gather_object(all_steps, steps)
    if rank == 0:
        result = {"ranks": all_steps, "first_step_seconds": first, "eval_loss": evaluate(model.eval(), settings["eval"])}
        pathlib.Path(settings["result"]).write_text(json.dumps(result))
    dist.barrier()
    dist.destroy_process_group()
    os._exit(0)  # without waiting for the processes of the reference


main()
