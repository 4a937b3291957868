#!/usr/bin/env python3
"""Measures on one CUDA device what memwall predicts of training and speed, and writes rows in validation's schema.

    measure.py --plan                    what would run, without torch
    measure.py --out DIR                 run it; DIR gets a file for each table
    measure.py --merge DIR ../           add the rows of DIR to those of this repository

Models are made here, from the configurations below, with random weights: nothing is downloaded. Each training run is a
process of its own, so that one that runs out of memory is a row like the others. README.md says what each table holds.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

GIB = 2**30

# Tables: file below validation, columns, and the file that numbers or names their sources.
TABLES = {
    "train-memory": ("rows/train-memory.tsv", "model dims hardware ask counter gib smi_gib rank source refused", "rows/train-memory-sources.txt"),
    "train-speed": (
        "rows/train-speed.tsv",
        "model method weights precision device count peaks links framework tp pp vpp cp ep dp sharding seq micro global recompute attention sp compile fused full flags tok_s source refused",
        "rows/train-sources.txt",
    ),
    "kernels": ("kernels/rows.tsv", "kind by device ranks format kv size us source refused", "kernels/sources.tsv"),
    "decode": (
        "rows/decode.tsv",
        "model weights gib device count backend variant engine built kind prompt generated depth ubatch flash tok_s source refused",
        "rows/decode-sources.txt",
    ),
}

# Shapes of models, under their ids in memwall's catalog.
CONFIGS = {
    "qwen2.5-0.5b": {
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2,
        "intermediate_size": 4864, "vocab_size": 151936, "max_position_embeddings": 32768, "tie_word_embeddings": True,
    },
    "llama-3.2-1b": {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
        "intermediate_size": 8192, "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": True,
    },
    "qwen3-1.7b": {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 2048, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 6144, "vocab_size": 151936, "max_position_embeddings": 40960, "tie_word_embeddings": True,
    },
    "mistral-7b-v0.3": {
        "architectures": ["MistralForCausalLM"], "model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "vocab_size": 32768, "max_position_embeddings": 32768, "tie_word_embeddings": False,
    },
    "llama-3.1-8b": {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": False,
    },
}

# A training run, by the fields of a request. One is changed at a time, so that a row says what the change costs.
BASE = {
    "model": "llama-3.2-1b", "method": "full", "weights": "bf16", "precision": "bf16-mixed", "optimizer": "adamw", "recompute": "none", "attention": "sdpa",
    "sequence_length": 2048, "micro_batch": 1,
}
EVERYWHERE = ["all-linear"]
LORA = {"method": "lora", "lora_rank": 16, "lora_targets": EVERYWHERE}
QLORA = {**LORA, "method": "qlora", "weights": "nf4"}
CHANGES = [
    {},
    *({"sequence_length": n} for n in (512, 1024, 4096, 8192)),
    *({"micro_batch": n} for n in (2, 4)),
    {"recompute": "full"}, {"recompute": "full", "sequence_length": 8192},
    *({"optimizer": o} for o in ("adamw-fused", "adamw-8bit", "paged-adamw-8bit", "adafactor", "sgd")),
    {"attention": "eager"}, {"attention": "eager", "sequence_length": 4096},
    {"weights": "f32"}, {"precision": "bf16"}, {"weights": "f32", "precision": "fp32"},
    LORA, {**LORA, "sequence_length": 4096}, {**LORA, "lora_targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}, {**LORA, "recompute": "full"},
    QLORA, {**QLORA, "sequence_length": 4096}, {**QLORA, "recompute": "full"},
    *({"model": m} for m in ("qwen2.5-0.5b", "qwen3-1.7b")),
    *({"model": m, "recompute": "full", **how} for m in ("mistral-7b-v0.3", "llama-3.1-8b") for how in ({}, LORA, QLORA)),
]

# Matrix products of a layer (rows n and columns k of the weight) and how many tokens they meet.
PRODUCTS = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)]
TOKENS = [1, 8, 64, 512, 4096, 16384]
# Sequences, tokens of each, heads, KV heads, head width.
PROMPTS = [(1, n, 32, 8, 128) for n in (1024, 4096, 16384, 32768)] + [(8, 2048, 32, 8, 128), (1, 4096, 32, 32, 128)]
ANSWERS = [(b, n, 32, 8, 128) for b in (1, 8, 32) for n in (1024, 8192, 32768)]
# One stream of transformers: model and tokens that stand before those that are written.
STREAMS = [(m, n) for m in ("llama-3.2-1b", "llama-3.1-8b") for n in (0, 4096)]
WRITTEN = 64

UNKNOWN = "?"  # a cell that a run will fill


def runs():
    """Training runs, as fields of requests."""
    return [{**BASE, **change} for change in CHANGES]


def tsv(table, cells):
    """One row of a table, from cells by their columns' names; others are empty."""
    columns = TABLES[table][1].split()
    unknown = set(cells) - set(columns)
    if unknown:
        raise KeyError(f"{table} has no column {unknown}")
    return "\t".join(str(cells.get(c, "")) for c in columns)


def memory_rows(run, device, framework, got):
    """Rows of train-memory for a run: what torch allocated, with nvidia-smi beside it, and what it reserved."""
    ask = {k: v for k, v in run.items() if k != "model"}
    row = {"model": run["model"], "hardware": device, "ask": json.dumps({**ask, "framework": framework, "packing": True}, separators=(",", ":")), "source": 0}
    if got.get("oom"):
        return [("train-memory", {**row, "counter": "allocated", "gib": "oom"})]
    return [("train-memory", {**row, "counter": "allocated", "gib": got["allocated"], "smi_gib": got["smi"]}), ("train-memory", {**row, "counter": "reserved", "gib": got["reserved"]})]


def speed_rows(run, device, framework, got):
    """The row of train-speed for a run with the framework's own optimizer and adapters on all layers, the only ones that
    table knows."""
    if got.get("oom") or run["optimizer"] != "adamw" or run.get("lora_targets", EVERYWHERE) != EVERYWHERE:
        return []
    return [("train-speed", {
        "model": run["model"], "method": run["method"], "weights": run["weights"].replace("bf16", ""), "precision": run["precision"], "device": device, "count": 1,
        "framework": framework, "dp": 1, "sharding": "none", "seq": run["sequence_length"], "micro": run["micro_batch"], "global": run["micro_batch"], "recompute": run["recompute"],
        "attention": run["attention"], "tok_s": got["tok_s"], "source": 0,
    })]


def kernel_jobs(fp8):
    """Kernels to time: kind, format, size."""
    for fmt in ["bf16", "fp16"] + (["fp8"] if fp8 else []):
        for n, k in PRODUCTS:
            for m in TOKENS:
                if fmt != "fp8" or m >= 16:  # torch's scaled product takes rows by sixteens
                    yield "gemm", fmt, (m, n, k)
    for size in PROMPTS:
        yield "prefill", "bf16", size
    for size in ANSWERS:
        yield "decode", "bf16", size


def kernel_row(job, device, by, us):
    kind, fmt, size = job
    return "kernels", {"kind": kind, "by": by, "device": device, "ranks": 1, "format": fmt, "kv": "" if kind == "gemm" else fmt, "size": " ".join(map(str, size)), "us": us, "source": "gpu"}


def stream_row(job, device, engine, rate):
    model, depth = job
    return "decode", {
        "model": model, "weights": "bf16", "device": device, "backend": "cuda", "engine": engine, "built": datetime.date.today().strftime("%Y-%m"), "kind": "decode",
        "generated": WRITTEN, "depth": depth or "", "tok_s": rate, "source": 0,
    }


def plan(device):
    """All rows of a whole run, with a mark in place of what is measured."""
    blank = {"allocated": UNKNOWN, "reserved": UNKNOWN, "smi": UNKNOWN, "tok_s": UNKNOWN}
    for run in runs():
        yield from memory_rows(run, device, "transformers", blank)
        yield from speed_rows(run, device, "transformers", blank)
    for job in kernel_jobs(fp8=True):
        yield kernel_row(job, device, "torch", UNKNOWN)
    for job in STREAMS:
        yield stream_row(job, device, "transformers", UNKNOWN)


def print_plan(device):
    """Headers, configurations and rows, each behind the name of what it is."""
    for table, (_, columns, _) in TABLES.items():
        print("header", table, columns.replace(" ", "\t"), sep="\t")
    for model, config in CONFIGS.items():
        print("config", model, json.dumps(config), sep="\t")
    for table, cells in plan(device):
        print("row", table, tsv(table, cells), sep="\t")


# ---- What follows needs a CUDA device and torch.


def shape(model):
    """A configuration of transformers."""
    from transformers import AutoConfig

    config = dict(CONFIGS[model])
    return AutoConfig.for_model(config.pop("model_type"), **config)


def fresh(model, dtype, attention):
    """A model with random weights on the device."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_default_dtype(dtype)
    try:
        with torch.device("cuda"):
            return AutoModelForCausalLM.from_config(shape(model), attn_implementation=attention)
    finally:
        torch.set_default_dtype(torch.float32)


def quantised(model, attention):
    """The same in NF4 with double quantisation, by way of a file, as a real one comes."""
    import torch
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig

    with tempfile.TemporaryDirectory() as folder:
        whole = fresh(model, torch.bfloat16, attention)
        whole.save_pretrained(folder)
        del whole
        torch.cuda.empty_cache()
        how = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=torch.bfloat16)
        return AutoModelForCausalLM.from_pretrained(folder, quantization_config=how, attn_implementation=attention, device_map={"": 0})


def prepared(run):
    """The model of a run, with its adapters."""
    import torch

    again = run["recompute"] == "full"
    if run["method"] == "qlora":
        from peft import prepare_model_for_kbit_training

        model = prepare_model_for_kbit_training(quantised(run["model"], run["attention"]), use_gradient_checkpointing=again)
    else:
        model = fresh(run["model"], torch.float32 if run["weights"] == "f32" else torch.bfloat16, run["attention"])
    model.config.use_cache = False
    if run["method"] == "full":
        return model
    from peft import LoraConfig, get_peft_model

    targets = run["lora_targets"]
    if again:
        model.enable_input_require_grads()
    return get_peft_model(model, LoraConfig(r=run["lora_rank"], target_modules=targets[0] if targets == EVERYWHERE else targets, lora_dropout=0.0, task_type="CAUSAL_LM"))


OPTIMIZERS = {
    "adamw": "adamw_torch", "adamw-fused": "adamw_torch_fused", "adamw-8bit": "adamw_bnb_8bit", "paged-adamw-8bit": "paged_adamw_8bit", "adafactor": "adafactor", "sgd": "sgd",
}
WARM, TIMED = 3, 8


def trainer(run, model, folder, watch):
    """transformers' own Trainer over sequences of random tokens."""
    import torch
    from transformers import Trainer, TrainingArguments

    length, batch = run["sequence_length"], run["micro_batch"]
    data = [{"input_ids": x, "labels": x} for x in torch.randint(0, model.config.vocab_size, (batch * (WARM + TIMED), length))]
    args = TrainingArguments(
        output_dir=folder, per_device_train_batch_size=batch, max_steps=WARM + TIMED, optim=OPTIMIZERS[run["optimizer"]], bf16=run["precision"] == "bf16-mixed", tf32=False,
        gradient_checkpointing=run["recompute"] == "full", gradient_checkpointing_kwargs={"use_reentrant": False}, report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
    )
    return Trainer(model=model, args=args, train_dataset=data, callbacks=[watch])


def watcher():
    """A callback that times steps and begins to count peaks once optimizer states are there."""
    import time

    import torch
    from transformers import TrainerCallback

    class Watch(TrainerCallback):
        def __init__(self):
            self.times = []

        def on_step_begin(self, args, state, control, **_):
            torch.cuda.synchronize()
            if state.global_step == 1:
                torch.cuda.reset_peak_memory_stats()
            self.begun = time.perf_counter()

        def on_step_end(self, args, state, control, **_):
            torch.cuda.synchronize()
            self.times.append(time.perf_counter() - self.begun)

    return Watch()


def train(run, before):
    """One run, in this process: peaks in GiB and tokens a second. before is what nvidia-smi showed without it."""
    import torch

    watch = watcher()
    try:
        with tempfile.TemporaryDirectory() as folder:
            trainer(run, prepared(run), folder, watch).train()
    except torch.cuda.OutOfMemoryError:
        return {"oom": True}
    tokens = run["sequence_length"] * run["micro_batch"]
    return {
        "allocated": round(torch.cuda.max_memory_allocated() / GIB, 3), "reserved": round(torch.cuda.max_memory_reserved() / GIB, 3),
        "smi": round(used() - before, 3), "tok_s": round(tokens / statistics.median(watch.times[WARM:]), 1),
    }


def first():
    """The one device that is measured: the first that this process may see. With more, the Trainer would split batches."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"


def used():
    """GiB that nvidia-smi shows as used on that device."""
    out = subprocess.run(["nvidia-smi", f"--id={first()}", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True, check=True).stdout
    return float(out.split()[0]) / 1024


def apart(run):
    """A run in a process of its own; None where it failed for another reason than memory, which is said."""
    command = [sys.executable, __file__, "--job", json.dumps(run), "--before", str(used())]
    got = subprocess.run(command, capture_output=True, text=True)
    lines = got.stdout.strip().splitlines()
    if got.returncode == 0 and lines:
        return json.loads(lines[-1])
    print(f"left out: {json.dumps(run)}: {(got.stderr.strip().splitlines() or ['no message'])[-1]}", file=sys.stderr)
    return None


def microseconds(call, spread):
    """Median time of a call on the device. It is captured in a CUDA graph, so that the host does not count; spread is how
    many copies of its operands it walks through, so that they do not come from the cache."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for i in range(spread):
            call(i)
    torch.cuda.synchronize()
    graph, repeats = torch.cuda.CUDAGraph(), max(spread, 10)
    with torch.cuda.graph(graph):
        for i in range(repeats):
            call(i % spread)
    graph.replay()
    times = []
    for _ in range(7):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(1000 * begin.elapsed_time(end) / repeats)
    return round(statistics.median(times), 3)


CACHE = 256 << 20  # more than the last cache of any device


def product(fmt, m, n, k):
    """Time of x @ w.T, w of n rows."""
    import torch

    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn}[fmt]
    spread = min(64, CACHE // (n * k * (1 if fmt == "fp8" else 2)) + 1)
    x = torch.randn(m, k, device="cuda", dtype=torch.bfloat16).to(dtype)
    w = [torch.randn(n, k, device="cuda", dtype=torch.bfloat16).to(dtype) for _ in range(spread)]
    if fmt != "fp8":
        return microseconds(lambda i: torch.mm(x, w[i].t()), spread)
    one = torch.ones((), device="cuda")
    return microseconds(lambda i: torch._scaled_mm(x, w[i].t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16), spread)


def attention(kind, sequences, length, heads, kv_heads, width):
    """Time of causal attention over a prompt, or of one token that reads a cache."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention as sdpa

    def some(n, rows):
        return torch.randn(sequences, n, rows, width, device="cuda", dtype=torch.bfloat16)

    spread = min(64, CACHE // (4 * sequences * kv_heads * length * width) + 1)
    q = some(heads, length if kind == "prefill" else 1)
    kv = [(some(kv_heads, length), some(kv_heads, length)) for _ in range(spread)]
    return microseconds(lambda i: sdpa(q, *kv[i], is_causal=kind == "prefill", enable_gqa=heads != kv_heads), spread)


def kernel(job):
    """Time of a kernel in microseconds."""
    kind, fmt, size = job
    return product(fmt, *size) if kind == "gemm" else attention(kind, *size)


def stream(job):
    """Tokens a second of one stream that transformers writes, greedily, behind a prompt."""
    import time

    import torch

    model, depth = job
    net = fresh(model, torch.bfloat16, "sdpa").eval()
    prompt = torch.randint(0, net.config.vocab_size, (1, max(1, depth)), device="cuda")
    rates = []
    with torch.inference_mode():
        for _ in range(3):
            out = net(prompt, use_cache=True, logits_to_keep=1)
            cache, token = out.past_key_values, out.logits[:, -1:].argmax(-1)
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(WRITTEN):
                out = net(token, past_key_values=cache, use_cache=True)
                token = out.logits[:, -1:].argmax(-1)
            torch.cuda.synchronize()
            rates.append(WRITTEN / (time.perf_counter() - begin))
    del net
    torch.cuda.empty_cache()
    return round(statistics.median(rates), 2)


def tried(job, measure):
    """A measurement, or None and a line on stderr where the device, or this torch, cannot."""
    try:
        return measure(job)
    except (RuntimeError, AttributeError, TypeError) as e:
        print(f"left out: {job}: {str(e).splitlines()[0]}", file=sys.stderr)
        return None


def measured(device):
    """All rows that this device gives."""
    import torch
    import transformers

    framework, by = f"transformers@{transformers.__version__.split('.dev')[0]}", f"torch@{torch.__version__.split('+')[0]}"
    for run in runs():
        if got := apart(run):
            yield from memory_rows(run, device, framework, got)
            yield from speed_rows(run, device, framework, got)
    for job in kernel_jobs(fp8=torch.cuda.get_device_capability() >= (8, 9)):
        if us := tried(job, kernel):
            yield kernel_row(job, device, by, us)
        torch.cuda.empty_cache()
    for job in STREAMS:
        if rate := tried(job, stream):
            yield stream_row(job, device, "transformers", rate)


def write(folder, device):
    """Run everything and write a file for each table, row by row, and what the rows' source is."""
    import torch

    name = torch.cuda.get_device_name()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.txt").write_text(f"measured, {name}, {datetime.date.today().isoformat()}\n")
    files = {table: open(folder / f"{table}.tsv", "w") for table in TABLES}
    for table, f in files.items():
        print(TABLES[table][1].replace(" ", "\t"), file=f)
    for table, cells in measured(device or name):
        print(tsv(table, cells), file=files[table], flush=True)
        print(table, tsv(table, cells).replace("\t", " "), sep=": ")


def merge(folder, validation):
    """Add the rows of a folder to those of the repository, under a source of their own."""
    source = (folder / "source.txt").read_text().strip()
    for table, (rows, columns, sources) in TABLES.items():
        new = (folder / f"{table}.tsv").read_text().splitlines()[1:]
        if not new:
            continue
        at = columns.split().index("source")
        key = named(validation / sources, source, table)
        with open(validation / rows, "a") as f:
            for line in new:
                cells = line.split("\t")
                cells[at] = key
                print("\t".join(cells), file=f)


def named(path, source, table):
    """Add a source to its list: by number, or under a key where the table names its sources."""
    lines = path.read_text().splitlines()
    if table != "kernels":
        path.write_text("\n".join([*lines, source]) + "\n")
        return str(len(lines))
    key = f"gpu{sum(line.startswith('gpu') for line in lines)}"
    path.write_text("\n".join([*lines, f"{key}\t{source}"]) + "\n")
    return key


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--plan", action="store_true", help="list what would run, without torch")
    p.add_argument("--device", default="", help="id of the device in memwall's catalog; the driver's name where it is not given")
    p.add_argument("--out", type=Path, help="folder for the rows")
    p.add_argument("--merge", nargs=2, type=Path, metavar=("DIR", "VALIDATION"), help="add the rows of DIR to those of the repository")
    p.add_argument("--job", help=argparse.SUPPRESS)
    p.add_argument("--before", type=float, default=0, help=argparse.SUPPRESS)
    a = p.parse_args()
    os.environ["CUDA_VISIBLE_DEVICES"], os.environ["CUDA_DEVICE_ORDER"] = first(), "PCI_BUS_ID"
    if a.plan:
        print_plan(a.device or "h100-sxm-80gb")
    elif a.job:
        print(json.dumps(train(json.loads(a.job), a.before)))
    elif a.merge:
        merge(*a.merge)
    elif a.out:
        write(a.out, a.device)
    else:
        p.error("one of --plan, --out, --merge")


if __name__ == "__main__":
    main()
