package dtype

import (
	"strings"
	"sync"
)

// Recipe is a named quantisation of a whole model: which tensor gets which scheme. Pick gives nil for a
// tensor that such files do not hold (rotary tables outside GGUF).
type Recipe struct {
	Name    string // canonical, lower case: "q4_k_m", "fp8", "awq"
	Title   string // as its makers write it: "Q4_K - Medium"
	Aliases []string
	Store   Store
	Base    *Format // what most of the weights are in
	FType   int     // general.file_type of GGUF files, NoGGML elsewhere
	Note    string
	// StandsFor says that the mixture is another's: what is known of it, "" for a recipe that is known.
	StandsFor string
	// Low and High are what files of the recipe take in parts of what Pick stores; 0 for exactly that.
	Low, High float64
	Pick      func(*Site) *Scheme
}

// Store is the kind of file that a recipe writes.
type Store uint8

const (
	Checkpoint Store = iota // safetensors or PyTorch files of the hub
	GGUF
	MLX
)

// Site says where a tensor sits in its model: all that a recipe may look at.
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
	// InRows × InCols is the matrix of a file that holds the tensor among others, 0 when it is one of its own; First marks
	// the tensor beside which its scales count.
	InRows, InCols int64
	First          bool
}

// Facts are what recipes ask about the whole model.
type Facts struct {
	Arch    string // GGUF name of the architecture
	Layers  int    // with the prediction layers that a file holds behind them
	Experts int64
	GQA     int64   // query heads per KV head of the first layer; 0 where that has no attention, by its file
	Tied    bool    // no tensor of the file is a head
	Native  *Format // of the unquantised checkpoint
}

// Category lumps roles that llama.cpp's mixtures treat alike (tensor_category in src/llama-quant.cpp).
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

// Category of a role: llama.cpp looks for parts of the tensor's name (tensor_get_category), so that keys and values that
// cross from an encoder or choose tokens count as ordinary ones.
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

// categories: a part that ends the name before ".weight", or one that may stand anywhere within it.
var categories = [...]struct {
	part   Role
	within bool
	is     Category
}{
	{AttnQKV, false, CatV}, {AttnKVB, false, CatV}, {AttnV, false, CatV}, {AttnK, false, CatK}, {AttnQ, false, CatQ},
	{AttnOutput, false, CatAttnOut}, {FFNUp, true, CatUp}, {FFNGate, true, CatGate}, {FFNDown, true, CatDown},
}

// Recipes lists every recipe: plain formats, then GGUF file types, then those of the hub and of MLX.
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
			// the first recipe keeps a name: "bf16" is the plain one, not the GGUF file type
			if _, taken := m[fold(name)]; !taken && name != "" {
				m[fold(name)] = r
			}
		}
	}
	return m
})

// FindRecipe reads a name as people write it: "Q4_K_M", "q4_k_m", "Q4_K - Medium", "bfloat16", "awq-int4".
// It gives nil for an unknown name.
func FindRecipe(name string) *Recipe { return recipeNames()[fold(name)] }

// InGGUF is the recipe of a GGUF file that means the same: f16 becomes the file type F16, whose norms are
// f32. It gives nil when GGUF files have no such type.
func (r *Recipe) InGGUF() *Recipe {
	if r.Store == GGUF {
		return r
	}
	return recipeNames()[fold("gguf-"+r.Name)]
}

// RecipeByFileType finds a GGUF recipe by general.file_type; nil when unknown.
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

// FindFormat reads a format's name as people write it; nil when unknown.
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

// plainRecipes keep every tensor in one format.
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
