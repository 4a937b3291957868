package examples

import (
	"fmt"
	"slices"
	"strings"
)

// Rules of thumb for the state of training differ by what each counts. Here they stand side by side, each beside the recipes
// that keep as much: memwall is asked what every recipe keeps, and a rule is named where its figure holds.

// recipe is a way to train a Llama 2 7B, by what it is called.
type recipe struct {
	name string
	run
}

var recipes = []recipe{
	{"all in BF16: transformers, torchtune", run{}},
	{"BF16 with 8-bit Adam", run{Optimizer: "adamw-8bit"}},
	{"BF16 with FP32 moments, paged (bitsandbytes)", run{Optimizer: "paged-adamw"}},
	{"FP32 weights under autocast", run{Weights: "f32"}},
	{"FSDP2 of torchtitan, on one rank", run{Framework: "torchtitan"}},
	{"DeepSpeed ZeRO, on one rank", run{Framework: "deepspeed", Sharding: "zero1"}},
	{"Megatron, FP32 gradients", run{Framework: "megatron"}},
	{"LoRA", run{Method: "lora"}},
	{"QLoRA", run{Method: "qlora"}},
}

// rule is a figure that is said of the state of training. Of says what it counts: bytes of a parameter, all or the optimizer's.
type rule struct {
	text, rows string
	said       Said
	of         string
}

var rules = []rule{
	{"10 N", "5.12", said("10", bytesU), "all"},
	{"12 N, 84 GB", "2.15, 3.9", said("12", bytesU), "all"},
	{"16 N, 1.12 TB", "4.10, 4.11", said("16", bytesU), "all"},
	{"18 N", "4.1", said("18", bytesU), "all"},
	{"4–6 ×", "3.18", between("4–6 ×", 4*2, 6*2, bytesU), "all"},
	{"6–8 ×", "1.5", between("6–8 ×", 6*2, 8*2, bytesU), "all"},
	{"2–4 × optimizer", "1.4", between("2–4 ×", 2*2, 4*2, bytesU), "optimizer"},
}

const recipesOpening = `
## 6. The state of training, side by side

Rules from 10 to 18 bytes for a parameter, from 4 to 8 times the model, two sums of 84 GB: most are right, of
different recipes. Each line is one that can be run, asked for Llama 2 7B; a rule stands where its figure holds. Bytes are
for one parameter of the model, before activations; "× model" is over 16-bit weights.

`

const recipesClosing = `
The two sums of 84 GB are two recipes with one total. 2.15 adds 2 + 2 + 8: 16-bit weights and gradients, FP32 moments
and no master copy, which is what a 32-bit optimizer over 16-bit weights keeps. 3.9 adds 2 + 2 + 4 + 2 + 2: an FP32
master copy with 16-bit moments, which none of the frameworks here keeps as it comes. And 10 N is a sum without
gradients: nothing trains with it.
`

// writeRecipes writes the table of recipes and rules.
func writeRecipes(b *strings.Builder, c *calc) {
	b.WriteString(recipesOpening)
	t := table{right: map[int]bool{}}
	head := []string{"recipe", "weights", "adapters", "master", "gradients", "moments", "sum", "× model", "7B", "70B"}
	for i := 1; i < len(head); i++ {
		t.right[i] = true
	}
	t.add(append(head, "rules that it is")...)
	below := &strings.Builder{}
	for i := range recipes {
		t.add(recipes[i].row(c)...)
		q := recipes[i].asked()
		fmt.Fprintf(below, "- %s: `%s`\n", recipes[i].name, q.command())
	}
	t.write(b)
	b.WriteString("\n" + below.String() + recipesClosing)
}

// asked is the recipe on a card.
func (r *recipe) asked() *run {
	q := r.run
	q.Model, q.On, q.Seq, q.Micro, q.Recompute = l7, a100, 2048, 1, "full"
	return &q
}

// row is one line of the table.
func (r *recipe) row(c *calc) []string {
	a := c.train(*r.asked())
	if c.err != nil {
		return make([]string, 11)
	}
	n := float64(a.Model.Parameters)
	cells := []string{r.name}
	for _, kind := range kinds {
		cells = append(cells, bytesEach(a, kind, n))
	}
	each := a.each().V
	cells = append(cells, decimal(each, 3), decimal(each/2, 2), decimal(each*7, 3)+" GB", decimal(each*70, 3)+" GB")
	return append(cells, strings.Join(holding(each, float64(a.inStep("optimizer"))/n), "; "))
}

func bytesEach(a answer, kind string, n float64) string {
	b := a.inStep(kind)
	if b == 0 {
		return "—"
	}
	return decimal(float64(b)/n, 3)
}

// holding are the rules that hold of a recipe that keeps so many bytes for a parameter, some of them the optimizer's.
func holding(all, optimizer float64) (out []string) {
	for _, r := range rules {
		x := all
		if r.of == "optimizer" {
			x = optimizer
		}
		if r.said.Holds(x) {
			out = append(out, fmt.Sprintf("%s (%s)", r.text, r.rows))
		}
	}
	return slices.Clip(out)
}
