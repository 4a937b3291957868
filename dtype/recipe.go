package dtype

import (
	"strings"
	"sync"
)

// Recipe is a named quantization of a whole model: which tensor gets which scheme. Pick returns nil for a tensor that
// such files do not store (rotary tables outside GGUF).
type Recipe struct {
	Name    string // canonical, lower case: "q4_k_m", "fp8", "awq"
	Title   string // as its authors write it: "Q4_K - Medium"
	Aliases []string
	Store   Store
	Base    *Format // format of most of the weights
	FType   int     // general.file_type of GGUF files, NoGGML elsewhere
	Note    string
	// StandsFor says that the recipe approximates another mixture and what is known of that; "" for a recipe known
	// exactly.
	StandsFor string
	// Low and High bound the size of real files of the recipe, relative to what Pick stores; 0 if exact.
	Low, High float64
	Pick      func(*Site) *Scheme
}

// Store is the kind of file that a recipe produces.
type Store uint8

const (
	Checkpoint Store = iota // safetensors or PyTorch files on the hub
	GGUF
	MLX
)

// Site describes a tensor's place in its model, which is all that a recipe may depend on.
type Site struct {
	Part       string // of the model: "decoder", "mtp", "vision"
	Role       Role
	Bias       bool
	Table      bool // stored but not learned
	Dims       int  // dimensions in the file
	Batch      int64
	Rows, Cols int64
	Layer      int // -1 outside the layers
	// Nth of Of tensors of the same Category, counted in layer order.
	Nth, Of int
	Model   *Facts
	// InRows and InCols are the shape of the larger matrix that holds the tensor in a file, 0 if it is stored alone;
	// First marks the tensor that its scales are counted with.
	InRows, InCols int64
	First          bool
}

// Facts are what recipes depend on about the whole model.
type Facts struct {
	Arch    string // GGUF name of the architecture
	Layers  int    // including prediction layers stored after the others
	Experts int64
	GQA     int64   // query heads per KV head of the first layer; 0 if it has no attention, per its file
	Tied    bool    // the file stores no separate head
	Native  *Format // format of the unquantized checkpoint
}

// Category groups roles that llama.cpp's mixtures treat alike (tensor_category in src/llama-quant.cpp).
type Category uint8

const (
	Other Category = iota
	CatEmbedding
	CatHead
	CatQ
	CatK
	CatV
	CatAttnOut
	CatGate
	CatUp
	CatDown
)

// Category returns the category of a role. llama.cpp matches parts of the tensor's name (tensor_get_category), so keys
// and values of cross-attention or of an indexer count as ordinary ones.
func (r Role) Category() Category {
	if r == TokenEmbd || r == PerLayerEmbd {
		return CatEmbedding
	}
	if r == Output {
		return CatHead
	}
	for i := range categories {
		if c := &categories[i]; c.within && strings.Contains(string(r), string(c.part)) || strings.HasSuffix(string(r), string(c.part)) {
			return c.is
		}
	}
	return Other
}

// categories maps name parts to categories: parts that end the name before ".weight", or that may occur anywhere in it.
var categories = [...]struct {
	part   Role
	within bool
	is     Category
}{
	{AttnQKV, false, CatV}, {AttnKVB, false, CatV}, {AttnV, false, CatV}, {AttnK, false, CatK}, {AttnQ, false, CatQ},
	{AttnOutput, false, CatAttnOut}, {FFNUp, true, CatUp}, {FFNGate, true, CatGate}, {FFNDown, true, CatDown},
}

// Recipes returns every recipe: plain formats, then GGUF file types, then those of the hub and of MLX.
func Recipes() []*Recipe { return recipes() }

var recipes = sync.OnceValue(func() []*Recipe {
	var all []*Recipe
	all = append(all, plainRecipes()...)
	all = append(all, ggufRecipes()...)
	all = append(all, hubRecipes()...)
	all = append(all, mlxRecipes()...)
	return append(all, exlRecipes()...)
})

var recipeNames = sync.OnceValue(func() map[string]*Recipe {
	m := map[string]*Recipe{}
	for _, r := range recipes() {
		for _, name := range append([]string{r.Name, r.Title}, r.Aliases...) {
			// the first recipe wins a name: "bf16" is the plain format, not the GGUF file type
			if _, taken := m[fold(name)]; !taken && name != "" {
				m[fold(name)] = r
			}
		}
	}
	return m
})

// FindRecipe returns the recipe for a name in any common spelling ("Q4_K_M", "q4_k_m", "Q4_K - Medium", "bfloat16",
// "awq-int4"), or nil.
func FindRecipe(name string) *Recipe { return recipeNames()[fold(name)] }

// InGGUF returns the equivalent recipe of a GGUF file: f16, for example, becomes the file type F16, whose norms are
// f32. It returns nil if GGUF files have none.
func (r *Recipe) InGGUF() *Recipe {
	if r.Store == GGUF {
		return r
	}
	return recipeNames()[fold("gguf-"+r.Name)]
}

// RecipeByFileType returns the GGUF recipe with the given general.file_type, or nil.
func RecipeByFileType(t int) *Recipe {
	for _, r := range recipes() {
		if r.Store == GGUF && r.FType == t {
			return r
		}
	}
	return nil
}

var folder = strings.NewReplacer("_", "", "-", "", " ", "", ".", "", "(", "", ")", "", ",", "", "/", "")

func fold(s string) string { return folder.Replace(strings.ToLower(s)) }

// FindFormat returns the format for a name in any common spelling, or nil.
func FindFormat(name string) *Format { return formatNames()[fold(name)] }

var formatNames = sync.OnceValue(func() map[string]*Format {
	m := map[string]*Format{}
	for _, list := range [][]*Format{GGML, Forked, Plain} {
		for _, f := range list {
			m[fold(f.Name)] = f
		}
	}
	for alias, f := range map[string]*Format{
		"float64": F64, "fp64": F64, "double": F64,
		"float32": F32, "fp32": F32, "float": F32, "float16": F16, "fp16": F16, "half": F16, "bfloat16": BF16,
		"fp8": FP8E4M3, "float8": FP8E4M3, "e4m3": FP8E4M3, "float8_e4m3fn": FP8E4M3, "fp8_e4m3fn": FP8E4M3, "f8_e4m3": FP8E4M3,
		"e5m2": FP8E5M2, "float8_e5m2": FP8E5M2, "f8_e5m2": FP8E5M2, "int8": I8, "int4": I4, "e2m1": FP4E2M1, "fp4": FP4E2M1, "f4": FP4E2M1,
		"int32": I32, "int64": I64, "int16": I16, "uint8": U8, "f8_e8m0": E8M0,
	} {
		m[fold(alias)] = f
	}
	return m
})

// plainRecipes returns the recipes that store every tensor in one format.
func plainRecipes() []*Recipe {
	one := func(f *Format, aliases ...string) *Recipe {
		return &Recipe{Name: f.Name, Base: f, Aliases: aliases, FType: NoGGML, Pick: func(s *Site) *Scheme {
			if s.Table {
				return nil
			}
			return Of(f)
		}}
	}
	return []*Recipe{
		one(F32, "float32", "fp32", "float"),
		one(F16, "float16", "fp16", "half"),
		one(BF16, "bfloat16", "bf16", "16bit", "16-bit", "16 bit"),
		one(F64, "float64", "fp64"),
	}
}
