package autoscale

// What help says.
const (
	Use   = "autoscale MODEL"
	Short = "what autoscalers make of a day's load: the goal kept, dollars, and how far from the best"
	Long  = "Replays a load (--load) on replicas that policies start and stop: HPA and KEDA by their controllers' own algorithms, " +
		"Dynamo's planner, llm-d's saturation analyzer, a fixed number, or an expression of yours. A replica is the plan, " +
		"simulated at fourteen loads; new ones take the time that weights from disk and the engine's start take. " +
		"Policies are compared with the cheapest fleet that an oracle would run. " +
		"--prompt and --output say what is asked for, --ttft and --tpot what is to be kept."
	Example = "memwall autoscale llama-3.1-8b --on h100 --load day.csv --prompt 1500 --output 300 --ttft 1s\n" +
		"memwall autoscale llama-3.1-8b --on h100 --load 2,1,1,4,9,14,12,6 --ttft 1s --policy hpa --emit hpa\n" +
		"memwall autoscale qwen3-32b --on 2xh100 --load watch.jsonl --output 400 --tpot 50ms --policy \"ceil(rate / holds * 1.3)\""
)
