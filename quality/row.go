package quality

// Row is a published figure for a model in a format.
type Row struct {
	Format *Format
	Metric *Metric
	Source *Source
	// Bits per weight, or per cached value, as the source counts them; 0 if it does not.
	Bits float64
	// Value is the metric in the format, Baseline without it if the source prints one (Based).
	Value, Baseline Figure
	Based           bool
	// Refused is why the row is not used; "" for nearly all.
	Refused string

	model *subject
}

// Figure is a printed number.
type Figure struct {
	Number float64
	half   float64 // half of the last printed digit
}

// Model returns the model's name as the source writes it.
func (r *Row) Model() string { return r.model.name }

// CatalogID returns the model's catalog id, or "".
func (r *Row) CatalogID() string { return r.model.catalog }

// Billions returns the model's parameters in billions, rounded; 0 if unknown.
func (r *Row) Billions() float64 { return r.model.billions }

// Delta returns the change of the metric in percent of the baseline. ok is false without a baseline, and for
// divergences, whose baseline is zero.
func (r *Row) Delta() (percent float64, ok bool) {
	if !r.Based || r.Metric.Kind == Divergence {
		return 0, false
	}
	return 100 * (r.Value.Number/r.Baseline.Number - 1), true
}

// Kind is the kind of a metric.
type Kind string

const (
	Perplexity  Kind = "perplexity"
	Accuracy    Kind = "accuracy"
	PrintedLoss Kind = "printed loss" // loss of accuracy, in percent of the baseline
	Divergence  Kind = "divergence"   // from the unquantized output; comparable to nothing else
)

// Metric is what was measured. Metrics of the same name differ between sources in corpus, context and harness.
type Metric struct {
	Name          string
	Kind          Kind
	LowerIsBetter bool
	// Noise is the variation between runs of the same weights, in points; 0 if unknown.
	Noise float64

	order int // of preference, as in metrics.tsv
}

// kind returns the kind under which a query finds the metric.
func (m *Metric) kind() Kind {
	if m.Kind == PrintedLoss {
		return Accuracy
	}
	return m.Kind
}

// Source is a publication with rows.
type Source struct {
	ID, Citation string
	// Baseline is the format of its baselines; "" means 16 bits or wider.
	Baseline string
}

// Target is what is quantized.
type Target string

const (
	Weights Target = "weights"
	KVCache Target = "kv"
	Both    Target = "both"
)

// How relates a format of the rows to the recipe or cache formats that it stands for.
type How string

const (
	Same How = "same" // as in files and engines
	Made How = "made" // the same bytes, produced differently: tuned, trained, after fine-tuning
	Near How = "near" // the source does not say enough to tell whether it is the same
)

// Format is a format as rows name it.
type Format struct {
	Name   string
	Target Target
	// As is a recipe of dtype, or cache formats of keys and values separated by a slash; "" if memwall knows none.
	As  string
	How How
	// Activations is the bits of activations if quantized too, else 0.
	Activations int
	Note        string

	own, as int // indexes in names
	wide    bool
}

// subject is a model as rows name it.
type subject struct {
	name, catalog, family string
	billions              float64
	benches               map[Target][]bench
}

// bench is the comparable rows: one source, one model, one metric.
type bench struct {
	metric *Metric
	source *Source
	rows   []*Row
}
