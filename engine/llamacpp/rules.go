package llamacpp

import "github.com/memwall/memwall/engine"

// What changed between versions, as rows; each row names the file and the build in which it changed.
// rules are the rows that hold for one version.
type rules struct {
	version    engine.Version
	pad        padding
	divide     division
	streams    bool // the cache is split by slot unless it is unified
	window     windows
	latent     latentCache
	indexes    indexCaches
	padRows    bool // tensors of the cache have rows, which a backend may pad
	padV       bool // without flash attention values are padded to the widest layer's
	headLast   bool // -ngl counts the repeating layers before the output layer
	flash      flashDefault
	slotRows   bool // llama-server reserves a row of logits for each slot only
	spare      bool // llama-server has a sequence more than slots, for the system prompt
	slotOut    bool // the output buffer starts with a row for each slot
	inputs     graphInputs
	crowds     bool // a split brings in as much as its nodes need
	batches    bool // devices take over products of large batches from the host
	copied     bool // queries, keys and values are copied out of one projection
	gated      bool // gate × activation is one operator with a result of its own
	tables     bool // each layer has a copy of its rotary factors, not each buffer
	gemmaEnd   bool // Gemma's per-layer embeddings lie with the output layer
	scratch    bool // CUDA keeps an f16 copy of quantised keys and values inside the compute buffer
	rotate     bool // quantised keys and values are rotated
	pinOver    bool // tensors that -ot sends to the CPU may go to the device's host buffer
	maxSlots   int64
	batch      batches
	cacheRAM   int64 // MiB
	checks     checkpoints
	metal      string // name of Apple's device
	rowMain    bool   // -sm row keeps caches, norms and results on the main device
	drafts     int64  // tokens drafted at a time
	mtp        bool   // prediction layers may draft
	towerFlash bool   // vision towers use flash attention where a device has kernels for them
	fits       bool   // --fit, on unless it is switched off
	forked     bool   // ik_llama.cpp
}

func rulesOf(v engine.Version) rules {
	return rules{
		version: v, pad: ruleAt(contextPad, v), divide: ruleAt(slotDivision, v), streams: ruleAt(splitCache, v), window: ruleAt(windowCache, v), latent: ruleAt(latentCaches, v), indexes: ruleAt(indexerCaches, v),
		padRows: ruleAt(paddedRows, v), padV: ruleAt(paddedValues, v), headLast: ruleAt(headLast, v), flash: ruleAt(flashDefaults, v), slotRows: ruleAt(rowsPerSlot, v), slotOut: ruleAt(outputPerSlot, v), spare: ruleAt(spareSequence, v),
		inputs: ruleAt(inputsOfGraph, v), batches: ruleAt(batchOffload, v), crowds: ruleAt(crowdedSplits, v), gated: ruleAt(gatedOperator, v), copied: ruleAt(copiedParts, v), tables: ruleAt(tablePerLayer, v), gemmaEnd: ruleAt(perLayerEnd, v), scratch: ruleAt(quantScratch, v), rotate: ruleAt(rotation, v), pinOver: ruleAt(pinnedOverrides, v), maxSlots: ruleAt(slotLimit, v), batch: ruleAt(batchDefaults, v),
		cacheRAM: ruleAt(promptCache, v), checks: ruleAt(checkpointDefaults, v), metal: ruleAt(metalName, v), fits: ruleAt(fitting, v), drafts: ruleAt(draftLengths, v), mtp: ruleAt(predictionLayers, v), towerFlash: ruleAt(towerAttention, v), rowMain: ruleAt(rowsOnMain, v),
	}
}

func ruleAt[T any](rows []engine.Since[T], v engine.Version) T { return engine.At(rows, v).Value }

var first = engine.V(0, 0, 0)

// padding of the cells of one stream, with flash attention and without.
type padding struct{ flash, plain int64 }

var contextPad = []engine.Since[padding]{
	{From: first, Value: padding{1, 1}, Source: "llama.cpp"},
	{From: build(2493), Value: padding{32, 32}, Source: "llama.cpp (#6177)"},
	{From: build(2771), Value: padding{256, 256}, Source: "llama.cpp (#5021)"},
	{From: build(2871), Value: padding{256, 32}, Source: "llama.cpp (#7257)"},
	{From: build(6868), Value: padding{1, 1}, Source: "src/llama-kv-cache.cpp (#16812)"},
	{From: build(6975), Value: padding{256, 256}, Source: "src/llama-context.cpp (#17046)"},
}

// division of the context among slots.
type division uint8

const (
	roundUp division = iota
	roundDown
)

var slotDivision = []engine.Since[division]{
	{From: first, Value: roundUp, Source: "src/llama-model.cpp"},
	{From: build(6925), Value: roundDown, Source: "src/llama-context.cpp (#16736)"},
}

var splitCache = []engine.Since[bool]{
	{From: first, Value: false, Source: "one cache for all sequences"},
	{From: build(6071), Value: true, Source: "src/llama-context.cpp (#14363, on by default from #14959)"},
}

// windows: how many cells a sliding layer keeps.
type windows uint8

const (
	windowFull   windows = iota // as many as any layer
	windowBatch                 // window of every slot + batch
	windowUBatch                // window of every slot + ubatch
	windowPadded                // the same, padded after the bound by the full cache
)

var windowCache = []engine.Since[windows]{
	{From: first, Value: windowFull, Source: "src/llama-kv-cache.cpp"},
	{From: build(5429), Value: windowBatch, Source: "src/llama-kv-cache.cpp (#13194)"},
	{From: build(5554), Value: windowUBatch, Source: "src/llama-kv-cache.cpp (#13833)"},
	{From: build(6975), Value: windowPadded, Source: "src/llama-kv-cache-iswa.cpp (#17046)"},
}

// latentCache: what latent attention keeps.
type latentCache uint8

const (
	latentExpanded latentCache = iota // full keys and values of every head
	latentAndV                        // the latent as keys, its rank again as values
	latentOnly
)

var latentCaches = []engine.Since[latentCache]{
	{From: first, Value: latentExpanded, Source: "src/llama.cpp"},
	{From: build(5137), Value: latentAndV, Source: "src/llama-model.cpp (#12801)"},
	{From: build(7832), Value: latentOnly, Source: "src/llama-kv-cache.cpp (#19067)"},
}

// indexes: which layers keep keys of an indexer.
type indexes uint8

const (
	indexNone  indexes = iota // the network runs without it
	indexEvery                // all layers, also those that take an earlier one's choice
	indexOwn                  // layers that have one
)

// indexCaches of the families whose files older builds read as DeepSeek-V3's.
type indexCaches struct{ deepseek, glm indexes }

var indexerCaches = []engine.Since[indexCaches]{
	{From: first, Value: indexCaches{}, Source: "src/llama-model.cpp"},
	{From: build(9411), Value: indexCaches{deepseek: indexOwn}, Source: "src/llama-model.cpp (#23346)"},
	{From: build(10119), Value: indexCaches{indexOwn, indexEvery}, Source: "src/llama-model.cpp (#25407)"},
	{From: build(10243), Value: indexCaches{indexOwn, indexOwn}, Source: "src/llama-model.cpp (#26474)"},
}

var paddedRows = []engine.Since[bool]{
	{From: first, Value: false, Source: "src/llama-kv-cache.cpp"},
	{From: build(5429), Value: true, Source: "src/llama-kv-cache.cpp (#13194)"},
}

var paddedValues = []engine.Since[bool]{
	{From: first, Value: false, Source: "src/llama-kv-cache.cpp"},
	{From: build(5913), Value: true, Source: "src/llama-kv-cache.cpp (#14363)"},
}

var headLast = []engine.Since[bool]{
	{From: first, Value: true, Source: "src/llama-model.cpp"},
	{From: build(7467), Value: false, Source: "src/llama-model.cpp (#18148)"},
}

// flashDefault is what flash attention is when nobody says.
type flashDefault uint8

const (
	flashOff flashDefault = iota
	flashAuto
)

var flashDefaults = []engine.Since[flashDefault]{
	{From: first, Value: flashOff, Source: "common/common.h"},
	{From: build(6325), Value: flashAuto, Source: "common/common.h (#15434)"},
}

var towerAttention = []engine.Since[bool]{
	{From: first, Value: false, Source: "tools/mtmd/clip.cpp"},
	{From: build(6955), Value: true, Source: "tools/mtmd/clip.cpp (#16837), with heads of 72 (#16962)"},
}

var rowsPerSlot = []engine.Since[bool]{
	{From: first, Value: false, Source: "src/llama-context.cpp"},
	{From: build(9460), Value: true, Source: "tools/server/server-context.cpp (#23861)"},
}

var outputPerSlot = []engine.Since[bool]{
	{From: first, Value: false, Source: "llama.cpp"},
	{From: build(2540), Value: true, Source: "llama.cpp (#6122)"},
}

var spareSequence = []engine.Since[bool]{
	{From: first, Value: false, Source: "examples/server: one sequence"},
	{From: build(1407), Value: true, Source: "examples/server/server.cpp (#3677)"},
	{From: build(3911), Value: false, Source: "examples/server/server.cpp (#9857)"},
}

// graphInputs are the inputs of a graph.
type graphInputs struct {
	rows     bool // the cache's rows to write are inputs
	both     bool // tokens and embeddings are both allocated
	halfMask bool // with flash attention the mask is f16; before, f32 on the host and both on the device
}

var inputsOfGraph = []engine.Since[graphInputs]{
	{From: first, Value: graphInputs{}, Source: "llama.cpp"},
	{From: build(6071), Value: graphInputs{rows: true}, Source: "src/llama-graph.cpp (#14285, on by default from #14959)"},
	{From: build(7819), Value: graphInputs{rows: true, both: true}, Source: "src/llama-graph.cpp (#18898)"},
	{From: build(9410), Value: graphInputs{rows: true, both: true, halfMask: true}, Source: "src/llama-graph.cpp (#23764)"},
}

var perLayerEnd = []engine.Since[bool]{
	{From: first, Value: true, Source: "src/llama-arch.cpp"},
	{From: build(8711), Value: false, Source: "src/llama-arch.cpp (#21612)"},
}

var quantScratch = []engine.Since[bool]{
	{From: first, Value: false, Source: "ggml/src/ggml-cuda/fattn-common.cuh: from the pool"},
	{From: build(9489), Value: true, Source: "ggml/src/ggml-cuda/fattn.cu (#23907)"},
}

var rotation = []engine.Since[bool]{
	{From: first, Value: false, Source: "src/llama-kv-cache.cpp"},
	{From: build(8619), Value: true, Source: "src/llama-kv-cache.cpp (#21038)"},
}

var pinnedOverrides = []engine.Since[bool]{
	{From: first, Value: false, Source: "src/llama-model.cpp"},
	{From: build(6049), Value: true, Source: "src/llama-model.cpp (#14990)"},
}

var slotLimit = []engine.Since[int64]{
	{From: first, Value: 1 << 24, Source: "no limit"},
	{From: build(5485), Value: 64, Source: "src/llama-cparams.h (#13706)"},
	{From: build(6507), Value: 256, Source: "src/llama-cparams.h (#15916)"},
}

// crowdedSplits: the source of August 2026 (b10309) still ends a split at 30 inputs, from b10247 (#22789) at 60 once a node brought
// in more than fitted, which is within the band; a run of v0.5.0 does not.
var crowdedSplits = []engine.Since[bool]{
	{From: first, Value: false, Source: "ggml/src/ggml-backend.cpp"},
	{From: engine.V(0, 5, 0), Value: true, Source: "splits that v0.5.0 printed of Gemma 3n E4B with its cache on the host"},
}

// batches are the defaults of -b and -ub.
type batches struct{ batch, ubatch int64 }

var batchDefaults = []engine.Since[batches]{
	{From: first, Value: batches{512, 512}, Source: "common/common.h"},
	{From: build(2413), Value: batches{2048, 512}, Source: "common/common.h (#6017)"},
}

var promptCache = []engine.Since[int64]{
	{From: first, Value: 0, Source: "tools/server"},
	{From: build(6723), Value: 8192, Source: "common/common.h, --cache-ram (#16391)"},
}

// checkpoints of a slot's memory that cannot be rolled back.
type checkpoints struct {
	count  int64
	states bool // of recurrent states too
}

var checkpointDefaults = []engine.Since[checkpoints]{
	{From: first, Value: checkpoints{}, Source: "tools/server"},
	{From: build(6160), Value: checkpoints{count: 3}, Source: "common/common.h (#15293)"},
	{From: build(6685), Value: checkpoints{count: 3, states: true}, Source: "common/common.h (#16382)"},
	{From: build(6723), Value: checkpoints{count: 8, states: true}, Source: "common/common.h (#16391)"},
	{From: build(8218), Value: checkpoints{count: 32, states: true}, Source: "common/common.h (#20087)"},
}

var metalName = []engine.Since[string]{
	{From: first, Value: "Metal", Source: "ggml/src/ggml-metal"},
	{From: build(7909), Value: "MTL0", Source: "ggml/src/ggml-metal (#18919)"},
}

var rowsOnMain = []engine.Since[bool]{
	{From: first, Value: true, Source: "src/llama.cpp (llm_load_tensors, buft_layer)"},
	{From: build(3990), Value: false, Source: "src/llama.cpp (#10026)"},
}

// draftLengths: the build is the first whose help was seen to say 3.
var draftLengths = []engine.Since[int64]{
	{From: first, Value: 16, Source: "common/common.h, --draft-max"},
	{From: build(10200), Value: 3, Source: "common/common.h, --spec-draft-n-max"},
}

// predictionLayers: the build is the first whose help was seen to have them.
var predictionLayers = []engine.Since[bool]{
	{From: first, Value: false, Source: "common/arg.cpp"},
	{From: build(9294), Value: true, Source: "common/arg.cpp, --spec-type draft-mtp (#22673)"},
}

var fitting = []engine.Since[bool]{
	{From: first, Value: false, Source: "common/common.h"},
	{From: build(7407), Value: true, Source: "common/common.h, fit_params (#16653)"},
}

var gatedOperator = []engine.Since[bool]{
	{From: first, Value: false, Source: "src/llama-graph.cpp (build_ffn)"},
	{From: build(5776), Value: true, Source: "src/llama-graph.cpp (#14158)"},
}

var copiedParts = []engine.Since[bool]{
	{From: first, Value: true, Source: "src/llama-model.cpp (build_phi3 and others)"},
	{From: build(6418), Value: false, Source: "src/llama-model.cpp (#15662)"},
}

var tablePerLayer = []engine.Since[bool]{
	{From: first, Value: true, Source: "src/llama.cpp (llm_load_tensors)"},
	{From: build(3990), Value: false, Source: "src/llama.cpp (#10026)"},
}

var batchOffload = []engine.Since[bool]{
	{From: first, Value: false, Source: "ggml-backend.c"},
	{From: build(2454), Value: true, Source: "ggml-backend.c (#6083)"},
}
