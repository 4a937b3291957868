// Package validation holds public measurements in one schema and scores memwall against them: how far
// off, how often inside its own band, how wide that band is, and which rows it refuses and why.
//
// The rows lie in rows/, one JSON object a line; open row.go for their form, measure.go for what is
// compared, score.go for the statistics. To add measurements, follow docs/guides/add-a-measurement.md.
package validation
