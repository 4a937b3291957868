"""Writes snapshots in the layout of torch.cuda.memory._dump_snapshot (PyTorch 2.9), by Python's own pickle module.

A small caching allocator (the rules of c10/cuda/CUDACachingAllocator.cpp, without expandable segments) serves the requests of a
made-up run of training: names, files and order are those of transformers and PyTorch, sizes those of a toy model. Nothing is measured.
usage: make.py KIND FILE [STEPS [LAYERS]], of the kinds training, leak, oom, inference, bare, ring, forward
"""
import pickle, sys

MiB = 1 << 20


class Allocator:
    def __init__(self, history="all", ring=None):
        self.segments, self.live, self.trace, self.clock, self.top, self.reserved = [], {}, [], 1_700_000_000_000_000, 0x7F0000000000, 0
        self.history, self.ring, self.peak, self.allocated, self.cache = history, ring, 0, 0, {}

    def frames(self, stack):
        if self.history == "bare":
            return []
        if stack not in self.cache:
            self.cache[stack] = [{"filename": f, "line": l, "name": n} for f, l, n in stack]
        return self.cache[stack]

    def log(self, action, addr, size, stack):
        self.clock += 7
        self.trace.append({"action": action, "addr": addr, "size": size, "stream": 0, "time_us": self.clock, "compile_context": "N/A", "frames": self.frames(stack)})
        if self.ring and len(self.trace) > self.ring:
            del self.trace[0]

    def alloc(self, size, stack):
        rounded = max(512, (size + 511) // 512 * 512)
        small = rounded <= MiB
        best = None
        for s in self.segments:
            if s["small"] != small:
                continue
            for b in s["blocks"]:
                if b["state"] == "inactive" and b["size"] >= rounded and (best is None or (b["size"], b["address"]) < (best[1]["size"], best[1]["address"])):
                    best = (s, b)
        if best is None:
            total = 2 * MiB if small else 20 * MiB if rounded < 10 * MiB else (rounded + 2 * MiB - 1) // (2 * MiB) * 2 * MiB
            b = {"address": self.top, "size": total, "requested_size": 0, "state": "inactive", "frames": []}
            s = {"small": small, "address": self.top, "total_size": total, "blocks": [b], "frames": self.frames(stack)}
            self.segments.append(s)
            self.log("segment_alloc", self.top, total, stack)
            self.top += total + 64 * MiB
            self.reserved += total
            best = (s, b)
        s, b = best
        rest = b["size"] - rounded
        if rest >= 512 if small else rest > MiB:
            i = s["blocks"].index(b)
            s["blocks"].insert(i + 1, {"address": b["address"] + rounded, "size": rest, "requested_size": 0, "state": "inactive", "frames": []})
            b["size"] = rounded
        b["state"], b["requested_size"], b["frames"] = "active_allocated", size, self.frames(stack)
        self.live[b["address"]] = (s, b)
        self.log("alloc", b["address"], size, stack)
        self.allocated += rounded
        self.peak = max(self.peak, self.allocated)
        return b["address"]

    def free(self, addr, stack=()):
        s, b = self.live.pop(addr)
        self.allocated -= max(512, (b["requested_size"] + 511) // 512 * 512)
        self.log("free_requested", addr, b["requested_size"], stack)
        self.log("free_completed", addr, b["requested_size"], stack)
        b["state"], b["requested_size"], b["frames"] = "inactive", 0, []
        i = s["blocks"].index(b)
        for j in (i + 1, i):
            if 0 < j < len(s["blocks"]) and s["blocks"][j]["state"] == s["blocks"][j - 1]["state"] == "inactive":
                s["blocks"][j - 1]["size"] += s["blocks"][j]["size"]
                del s["blocks"][j]

    def snapshot(self):
        out = []
        for s in self.segments:
            active = sum(b["size"] for b in s["blocks"] if b["state"] == "active_allocated")
            out.append({
                "device": 0, "address": s["address"], "total_size": s["total_size"], "allocated_size": active, "active_size": active,
                "requested_size": sum(b["requested_size"] for b in s["blocks"]), "stream": 0, "segment_type": "small" if s["small"] else "large",
                "segment_pool_id": (0, 0), "is_expandable": False, "frames": s["frames"], "blocks": s["blocks"],
            })
        return {
            "segments": out, "device_traces": [self.trace, []],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0, "expandable_segments": False,
                                   "pinned_num_register_threads": 1, "release_lock_on_cudamalloc": False, "pinned_use_cuda_host_register": False,
                                   "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)}},
            "external_annotations": [],
        }


SITE = "/usr/lib/python3/site-packages/"
MAIN = (("/home/me/train.py", 88, "<module>"),)
LOAD = ((SITE + "torch/nn/modules/module.py", 1340, "convert"), (SITE + "torch/nn/modules/module.py", 927, "_apply"), (SITE + "torch/nn/modules/module.py", 1355, "to"), ("/home/me/train.py", 31, "main")) + MAIN
FEED = ((SITE + "accelerate/utils/operations.py", 155, "send_to_device"), ("/home/me/train.py", 52, "main")) + MAIN
LLAMA = SITE + "transformers/models/llama/modeling_llama.py"
TOP = ((SITE + "torch/nn/modules/module.py", 1784, "_call_impl"), (LLAMA, 480, "forward"), ("/home/me/train.py", 55, "main")) + MAIN


def linear(line, name="forward"):
    return ((SITE + "torch/nn/modules/linear.py", 134, "forward"), (SITE + "torch/nn/modules/module.py", 1784, "_call_impl"), (LLAMA, line, name)) + TOP


ACT = ((SITE + "torch/nn/modules/activation.py", 473, "forward"), (SITE + "torch/nn/modules/module.py", 1784, "_call_impl"), (LLAMA, 155, "forward")) + TOP
LOSS = ((SITE + "torch/nn/functional.py", 3494, "cross_entropy"), (SITE + "transformers/loss/loss_utils.py", 36, "fixed_cross_entropy")) + TOP
CPP_GRAD = (("??", 0, "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)"), ("??", 0, "torch::autograd::generated::MmBackward0::apply"), ("??", 0, "torch::autograd::Engine::evaluate_function"))
ACCUMULATE = (("??", 0, "at::_ops::new_empty_strided::call(at::Tensor const&)"), ("??", 0, "torch::autograd::AccumulateGrad::apply"), ("??", 0, "torch::autograd::Engine::evaluate_function"))
ADAM = ((SITE + "torch/optim/adamw.py", 193, "_init_group"), (SITE + "torch/optim/adamw.py", 244, "step"), (SITE + "torch/optim/optimizer.py", 516, "wrapper"), ("/home/me/train.py", 60, "main")) + MAIN
FOREACH = ((SITE + "torch/optim/adamw.py", 712, "_multi_tensor_adamw"), (SITE + "torch/optim/adamw.py", 244, "step"), ("/home/me/train.py", 60, "main")) + MAIN
ZERO = ((SITE + "torch/optim/optimizer.py", 1018, "zero_grad"), ("/home/me/train.py", 61, "main")) + MAIN
KEPT = (("/home/me/train.py", 58, "main"),) + MAIN


def train(a, kind, steps, layers):
    """Trains a toy: weights of 24 MiB a layer, activations of 30 MiB a layer, a head with 64 MiB of logits."""
    python_only = kind in ("ring",)
    weights = [a.alloc(n * MiB, LOAD) for _ in range(layers) for n in (8, 16)] + [a.alloc(48 * MiB, LOAD)]
    sizes = [n for _ in range(layers) for n in (8, 16)] + [48]
    states, lasting = [], []
    for step in range(steps):
        batch = a.alloc(64 << 10, FEED)
        saved = []
        for layer in range(layers):
            saved.append(a.alloc(10 * MiB, linear(231)))
            if not lasting:
                lasting.append(a.alloc(2 * 4096 * 1024 + 8 * 16 * 1024, linear(231)))  # cuBLAS's workspace
            scratch = a.alloc(12 * MiB, linear(232))
            saved.append(a.alloc(20 * MiB + 3000, ACT))
            a.free(scratch, linear(232))
        logits = a.alloc(64 * MiB, linear(490))
        upcast = a.alloc(128 * MiB, LOSS)
        if kind == "oom" and step == steps - 1:
            a.log("oom", 300 * MiB, 512 * MiB, LOSS)
            a.trace[-1]["device_free"] = a.trace[-1].pop("addr")
            return
        if kind == "forward" and step == steps - 1:
            return
        if kind == "leak":
            lasting.append(a.alloc(3 * MiB + 77, KEPT))
        bare = () if python_only else CPP_GRAD
        g = a.alloc(128 * MiB, bare)
        a.free(upcast, ())
        a.free(logits, ())
        grads = []
        for n, act in zip(reversed(sizes), [None] + list(reversed(saved))):
            t = a.alloc(10 * MiB, bare)
            grads.append(a.alloc(n * MiB, () if python_only else ACCUMULATE))
            a.free(t, ())
            if act is not None:
                a.free(act, ())
        a.free(g, ())
        if not states:
            for n in sizes:
                states += [a.alloc(4 * n // 2 * MiB, ADAM) for _ in range(2)]
        t = a.alloc(48 * MiB, FOREACH)
        a.free(t, FOREACH)
        for x in grads:
            a.free(x, ZERO)
        a.free(batch, MAIN)


def infer(a, steps):
    """Serves: a cache that grows with each token."""
    weights = [a.alloc(16 * MiB, LOAD) for _ in range(8)]
    cat = ((SITE + "transformers/cache_utils.py", 110, "update"), (LLAMA, 240, "forward")) + TOP
    for _ in range(steps):
        t = a.alloc(4 * MiB, linear(231))
        a.alloc(MiB + 512, cat)
        a.free(t, linear(231))


kind, name = sys.argv[1:3]
steps, layers = [int(x) for x in sys.argv[3:]] + [4, 4][len(sys.argv) - 3:]
a = Allocator("bare" if kind == "bare" else "all", ring=200 if kind == "ring" else None)
if kind == "inference":
    infer(a, 40)
else:
    train(a, kind, steps, layers)
with open(name, "wb") as f:
    pickle.dump(a.snapshot(), f)
print(f"{name}: peak {a.peak}, reserved {a.reserved}, live {a.allocated}, {len(a.trace)} events")
