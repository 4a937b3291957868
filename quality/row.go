package quality

// Row is one published figure of a model in a format.
type Row struct {
	Format *Format
	Metric *Metric
	Source *Source
	// Bits of a weight, or of a cached value, as the source counts them; 0 where it does not.
	Bits float64
	// Value of the metric in the format; Baseline without it, where the source prints one (Based).
	Value, Baseline Figure
	Based           bool
	// Refused says why the row answers no question; "" for nearly all.
	Refused string

	model *subject
}

// Figure is a printed number.
type Figure struct {
	Number float64
	half   float64 // of the last printed digit
}

// Model as the source writes it.
func (r *Row) Model() string { return r.model.name }

// CatalogID of the model, "" where the catalog has none.
func (r *Row) CatalogID() string { return r.model.catalog }

// Billions of parameters, rounded; 0 where unknown.
func (r *Row) Billions() float64 { return r.model.billions }

// Delta is what the format changes of the metric, in percent of the baseline; not ok without one, and for
// divergences, which are zero without the format.
func (r *Row) Delta() (percent float64, ok bool) {
	if !r.Based || r.Metric.Kind == Divergence {
		return 0, false
	}
	return 100 * (r.Value.Number/r.Baseline.Number - 1), true
}

// Kind of a metric.
type Kind string

const (
	Perplexity  Kind = "perplexity"
	Accuracy    Kind = "accuracy"
	PrintedLoss Kind = "printed loss" // of an accuracy, in percent of the baseline
	Divergence  Kind = "divergence"   // from the output without the format; comparable with nothing else
)

// Metric is what was measured. Metrics of one name differ in corpus, context and harness from source to source.
type Metric struct {
	Name          string
	Kind          Kind
	LowerIsBetter bool
	// Noise is by how many points runs of the same weights differ; 0 where it is not known.
	Noise float64

	order int // of preference: that of metrics.tsv
}

// kind under which a question finds the metric.
func (m *Metric) kind() Kind {
	if m.Kind == PrintedLoss {
		return Accuracy
	}
	return m.Kind
}

// Source of rows.
type Source struct {
	ID, Citation string
	// Baseline is the format that its baselines are in; "" is 16 bits or wider.
	Baseline string
}

// Target is what is quantised.
type Target string

const (
	Weights Target = "weights"
	KVCache Target = "kv"
	Both    Target = "both"
)

// How a format of rows relates to the recipe, or to the formats of a cache, that it stands for.
type How string

const (
	Same How = "same" // as files and engines have it
	Made How = "made" // the same bytes, made in a special way: tuned, trained, after fine-tuning
	Near How = "near" // the source does not print what would tell whether it is the same
)

// Format is a format as rows name it.
type Format struct {
	Name   string
	Target Target
	// As is a recipe of dtype, or for a cache the formats of keys and values with a slash between; "" where memwall
	// knows none.
	As  string
	How How
	// Activations are the bits of activations where these are quantised too, else 0.
	Activations int
	Note        string

	own, as int // numbers in names
	wide    bool
}

// subject is a model as rows name it.
type subject struct {
	name, catalog, family string
	billions              float64
	benches               map[Target][]bench
}

// bench is the rows of one source about one model in one metric: what may be compared with each other.
type bench struct {
	metric *Metric
	source *Source
	rows   []*Row
}
