package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// shared is the picture that others show beside a link to the site, as points, since few of them draw SVG: the three bars of the
// sign, cache over working memory over weights, in the colours of the pages.
func shared() ([]byte, error) {
	const width, height = 1200, 630
	p := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{
		color.RGBA{0xfb, 0xfb, 0xf9, 0xff}, color.RGBA{0x24, 0xa6, 0x7b, 0xff}, color.RGBA{0xd4, 0x73, 0x1a, 0xff},
		color.RGBA{0x2f, 0x62, 0xc9, 0xff},
	})
	for i, bar := range []image.Rectangle{image.Rect(390, 105, 810, 175), image.Rect(390, 198, 810, 291), image.Rect(390, 315, 810, 525)} {
		draw.Draw(p, bar, image.NewUniform(p.Palette[i+1]), image.Point{}, draw.Src)
	}
	var b bytes.Buffer
	err := png.Encode(&b, p)
	return b.Bytes(), err
}
