package dtype

import "strconv"

// exlBits are the average bits offered by ExLlama's converters (turboderp-org/exllamav2 convert.py -b, exllamav3
// convert.py --bits), in hundredths.
var exlBits = []int64{200, 225, 250, 275, 300, 325, 350, 375, 400, 425, 450, 475, 500, 525, 550, 600, 650, 700, 800}

// exlRecipes returns ExLlama's recipes: linear layers at the given average, the head at 6 bits, embeddings and norms
// unchanged.
func exlRecipes() (out []*Recipe) {
	for _, version := range []string{"exl2", "exl3"} {
		for _, bits := range exlBits {
			name := version + "-" + strconv.FormatFloat(float64(bits)/100, 'f', -1, 64) + "bpw"
			if bits%100 == 0 {
				name = version + "-" + strconv.FormatInt(bits/100, 10) + ".0bpw"
			}
			body, head := exl(bits), exl(600)
			out = append(out, &Recipe{Name: name, Base: body.Elem, FType: NoGGML,
				Note:      "ExLlama, average bits of the linear layers, head in 6",
				StandsFor: "bits differ from layer to layer, and so many are their average", Low: 0.97, High: 1.05,
				Pick: averaged(body, head)})
		}
	}
	return out
}

// exl stores 32 elements in hundredths/25 bytes.
func exl(hundredths int64) *Scheme {
	return &Scheme{Name: "exl-" + strconv.FormatInt(hundredths, 10),
		Elem: &Format{Name: "exl" + strconv.FormatInt(hundredths, 10), BlockElems: 32, BlockBytes: hundredths / 25, GGML: NoGGML}}
}

func averaged(body, head *Scheme) func(*Site) *Scheme {
	blocks := Blocks(body)
	return func(s *Site) *Scheme {
		if s.Role == Output && s.Quantisable() {
			return head
		}
		return blocks(s)
	}
}
