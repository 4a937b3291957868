package train

// inFlight returns how many micro-batches a stage holds at once, in units of whole stages: a chunk of an interleaved
// stage counts as its share. GPipe arXiv:1811.06965; 1F1B and interleaved chunks arXiv:2104.04473; zero bubble
// arXiv:2401.10241: H1 holds as many as 1F1B, H2 twice as many, and its V-shaped schedule a whole pipeline's on every
// stage. DualPipe (arXiv:2412.19437, table 2) holds one more than there are stages: as many as 1F1B for a rank's own
// stage, the rest for the opposite stage; its V-shaped form splits stages in two and holds half a stage more.
func inFlight(schedule string, stage, stages, chunks, micro int64) float64 {
	if stages <= 1 {
		return 1
	}
	behind := stages - stage
	switch schedule {
	case "gpipe":
		return float64(micro)
	case "interleaved":
		n := min(micro*chunks, 2*(behind-1)+(chunks-1)*stages+1)
		return float64(n) / float64(chunks)
	case "zb-h2":
		return float64(min(micro, 2*behind-1))
	case "zbv":
		return float64(min(micro, stages))
	case "dualpipe-v":
		return min(float64(micro), float64(stages)+0.5)
	}
	return float64(min(micro, behind))
}
