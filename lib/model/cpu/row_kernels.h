// The arithmetic of single rows on the CPU, in fp32: one pass over a row that stays in the cache,
// where LibTorch takes many passes over memory. Each function is compiled for several instruction
// sets, chosen by the processor at run time. Rows of bf16 are widened first.
//
// All pointers are rows of `count` values unless said otherwise; inputs and outputs may not overlap
// in part, but an output may be the input where the name says "in place".
#pragma once

#include <cstdint>

#include <c10/util/BFloat16.h>

namespace odb::row {

void bf16_to_fp32(const c10::BFloat16* from, float* to, std::int64_t count);
void fp32_to_bf16(const float* from, c10::BFloat16* to, std::int64_t count);

void add(const float* a, const float* b, float* sum, std::int64_t count);

// y = x / rms(x) * weight; returns 1 / rms(x), where rms(x)^2 = mean(x^2) + epsilon.
float rms_norm(const float* x, const float* weight, float* y, std::int64_t count, float epsilon);
// dx is written, d_weight added to. `scale` is what rms_norm returned.
void rms_norm_backward(const float* x, const float* weight, const float* dy, float scale, float* dx,
                       float* d_weight, std::int64_t count);

// Rotates the two halves of a head, in place, by the angles whose cosines and sines are given
// (count / 2 each). `direction` -1 rotates them back.
void rotate_in_place(float* head, const float* cosines, const float* sines, float direction,
                     std::int64_t count);

// y = silu(gate) * up, and its derivatives by both.
void swiglu(const float* gate, const float* up, float* y, std::int64_t count);
void swiglu_backward(const float* gate, const float* up, const float* dy, float* d_gate,
                     float* d_up, std::int64_t count);

// Turns logits into the gradient of -log(softmax(logits)[label]), in place, and returns that loss.
float cross_entropy_in_place(float* logits, std::int64_t label, std::int64_t count);
// The loss alone.
float cross_entropy(const float* logits, std::int64_t label, std::int64_t count);

}  // namespace odb::row
