package autoscale

// What help says.
const (
	Use   = "autoscale MODEL"
	Short = "how autoscalers handle a day's load: goal met, dollars, and distance from the best"
	Long  = "Replays a load (--load) on replicas that policies start and stop: HPA and KEDA by their controllers' own algorithms, " +
		"Dynamo's planner, llm-d's saturation analyzer, a fixed number, or your own expression. A replica is the plan, " +
		"simulated at fourteen loads; a new one has to read its weights from disk and start the engine first. " +
		"Policies are compared with the cheapest fleet that an oracle would run. " +
		"--prompt and --output describe the requests, --ttft and --tpot the goal."
	Example = "memwall autoscale llama-3.1-8b --on h100 --load day.csv --prompt 1500 --output 300 --ttft 1s\n" +
		"memwall autoscale llama-3.1-8b --on h100 --load 2,1,1,4,9,14,12,6 --ttft 1s --policy hpa --emit hpa\n" +
		"memwall autoscale qwen3-32b --on 2xh100 --load watch.jsonl --output 400 --tpot 50ms --policy \"ceil(rate / holds * 1.3)\""
)
