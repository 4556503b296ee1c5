#!/usr/bin/env python3
"""Times searches of PyTorch's tensors on a CUDA device, beside its cdist and topk: milliseconds on the device's clock.

2,000 queries × 200,000 points × 128 dimensions, k = 10; the least of seven rounds counts.
"""

import torch

import kith


def least(call):
    times = []
    for _ in range(7):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return min(times)


torch.manual_seed(1)
base, queries = torch.randn(200_000, 128, device="cuda"), torch.randn(2000, 128, device="cuda")
index = kith.Index(base)
for name, call in {
    "kith.Index.search": lambda: index.search(queries, 10),
    "kith.search": lambda: kith.search(base, queries, 10),
    "torch.cdist + topk": lambda: torch.cdist(queries, base).topk(10, largest=False),
}.items():
    print(f"{name:20} {least(call):8.2f} ms")
