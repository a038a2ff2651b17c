#!/usr/bin/env python3
"""Writes the files under models/ of this folder, see README.md: two layers, hidden size 32, random weights.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13.0 transformers==4.57.6 tokenizers==0.22.2 numpy
    VENV/bin/python tests/cases/make_models.py

models/reference.expected.json is what transformers computes with them, in float32 on the CPU.
"""
import json
import struct

import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from make_cases import dump, put

SEED = 20261129
CFG = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "attention_bias": False, "attention_dropout": 0.0,
       "bos_token_id": 330, "eos_token_id": 332, "head_dim": 16, "hidden_act": "silu", "hidden_size": 32,
       "initializer_range": 0.02, "intermediate_size": 48, "max_position_embeddings": 256, "max_window_layers": 2,
       "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2, "rms_norm_eps": 1e-06,
       "rope_scaling": None, "rope_theta": 1000000, "sliding_window": None, "tie_word_embeddings": False,
       "torch_dtype": "bfloat16", "use_cache": True, "use_sliding_window": False, "vocab_size": 352}


def weights(rng):
    h, d, nh, nkv, f, v = 32, 16, 4, 2, 48, 352
    w = {"model.embed_tokens.weight": (v, h), "model.norm.weight": (h,), "lm_head.weight": (v, h)}
    for l in range(2):
        p = f"model.layers.{l}."
        w.update({p + "self_attn.q_proj.weight": (nh * d, h), p + "self_attn.k_proj.weight": (nkv * d, h),
                  p + "self_attn.v_proj.weight": (nkv * d, h), p + "self_attn.o_proj.weight": (h, nh * d),
                  p + "self_attn.q_norm.weight": (d,), p + "self_attn.k_norm.weight": (d,),
                  p + "mlp.gate_proj.weight": (f, h), p + "mlp.up_proj.weight": (f, h), p + "mlp.down_proj.weight": (h, f),
                  p + "input_layernorm.weight": (h,), p + "post_attention_layernorm.weight": (h,)})
    out = {}
    for n, s in w.items():
        x = rng.standard_normal(s).astype(np.float32) * 0.2
        out[n] = x + 1 if "norm" in n else x
    return out


def bf16_bits(x):
    u = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def st_bytes(tensors, meta=None):
    """A safetensors writer of our own: BF16 from float32 arrays."""
    head, blob = {}, b""
    if meta is not None:
        head["__metadata__"] = meta
    for n in sorted(tensors):
        b = bf16_bits(tensors[n]).tobytes()
        head[n] = {"dtype": "BF16", "shape": list(tensors[n].shape), "data_offsets": [len(blob), len(blob) + len(b)]}
        blob += b
    j = json.dumps(head, separators=(",", ":")).encode()
    j += b" " * (-len(j) % 8)
    return struct.pack("<Q", len(j)) + j + blob


def model_cases():
    rng = np.random.default_rng(SEED)
    w = weights(rng)
    def cfg(d, **kw):
        c = {**CFG, **kw}
        for k in [k for k, v in c.items() if v == "DROP"]:
            del c[k]
        put(f"models/{d}/config.json", dump(c))
    full = st_bytes(w, {"format": "pt"})
    nohead = st_bytes({k: v for k, v in w.items() if k != "lm_head.weight"}, {"format": "pt"})
    cfg("base"); put("models/base/model.safetensors", full)
    cfg("tied_no_head", tie_word_embeddings=True); put("models/tied_no_head/model.safetensors", nohead)
    cfg("tied_stale_head", tie_word_embeddings=True); put("models/tied_stale_head/model.safetensors", full)
    cfg("untied_missing_head"); put("models/untied_missing_head/model.safetensors", nohead)
    cfg("truncated"); put("models/truncated/model.safetensors", full[:-1000])
    cfg("truncated_header"); put("models/truncated_header/model.safetensors", full[:200])
    cfg("zero_byte"); put("models/zero_byte/model.safetensors", b"")
    cfg("trailing_bytes"); put("models/trailing_bytes/model.safetensors", full + b"\0" * 64)
    names = sorted(w)
    cut = len(names) // 2
    m = {n: f"model-0000{1 if i < cut else 2}-of-00002.safetensors" for i, n in enumerate(names)}
    total = sum(2 * w[n].size for n in names)
    for d in ("sharded", "sharded_missing"):
        cfg(d)
        put(f"models/{d}/model.safetensors.index.json", dump({"metadata": {"total_size": total}, "weight_map": m}))
        put(f"models/{d}/model-00001-of-00002.safetensors", st_bytes({n: w[n] for n in names[:cut]}, {"format": "pt"}))
    put("models/sharded/model-00002-of-00002.safetensors", st_bytes({n: w[n] for n in names[cut:]}, {"format": "pt"}))
    # rope spellings (weights: use models/base/model.safetensors)
    cfg("rope_v5", rope_theta="DROP", rope_scaling="DROP", rope_parameters={"rope_type": "default", "rope_theta": 1000000})
    cfg("rope_scaling_default", rope_scaling={"rope_type": "default"})
    cfg("rope_linear_old_key", rope_scaling={"type": "linear", "factor": 4.0})
    cfg("rope_yarn", rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64})
    cfg("rope_yarn_v5", rope_theta="DROP", rope_scaling="DROP",
        rope_parameters={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 1000000})
    cfg("rope_unknown", rope_scaling={"rope_type": "spiral", "factor": 2.0})
    # head_dim: absent -> the Qwen3 default is 128, not hidden/heads, so these weights must be refused
    cfg("head_dim_absent", head_dim="DROP")
    return w


def references(w):
    torch.set_num_threads(1)
    ids = [331, 117, 64, 12, 280, 99, 7, 332, 10, 331, 250, 5, 301, 332] * 9
    ids = ids[:120]
    bits = {k: torch.from_numpy((bf16_bits(v).astype(np.uint32) << 16).view(np.float32).reshape(v.shape).copy())
            for k, v in w.items()}
    out = {"input_ids": ids,
           "note": "weights read as BF16, computed in float32; nll = mean next-token loss over all positions"}
    described = {k: v for k, v in CFG.items() if k not in ("architectures", "model_type", "torch_dtype")}
    def run(over, sd):
        c = Qwen3Config(**{**described, **over})
        c._attn_implementation = "eager"
        m = Qwen3ForCausalLM(c).float().eval()
        miss, unexp = m.load_state_dict(sd, strict=False)
        if c.tie_word_embeddings:
            m.tie_weights()
        x = torch.tensor([ids])
        with torch.no_grad():
            lg = m(input_ids=x).logits[0]
        nll = torch.nn.functional.cross_entropy(lg[:-1], x[0, 1:]).item()
        return {"nll": round(nll, 6), "last_logits_first8": [round(float(z), 5) for z in lg[-1, :8]]}
    head = dict(bits)
    nohead = {k: v for k, v in bits.items() if k != "lm_head.weight"}
    out["base"] = run({}, head)
    out["tied_no_head"] = run({"tie_word_embeddings": True}, nohead)
    out["tied_stale_head"] = out["tied_no_head"]
    out["sharded"] = out["base"]
    out["trailing_bytes"] = "refuse, or warn and equal base"
    out["rope_v5"] = run({}, head)
    out["rope_scaling_default"] = run({"rope_scaling": {"rope_type": "default"}}, head)
    out["rope_linear_old_key"] = run({"rope_scaling": {"type": "linear", "factor": 4.0}}, head)
    y = run({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}}, head)
    out["rope_yarn"] = y
    out["rope_yarn_v5"] = y
    out["wrong_if_theta_10000"] = run({"rope_theta": 10000}, head)
    put("models/reference.expected.json", dump(out))


if __name__ == "__main__":
    references(model_cases())
