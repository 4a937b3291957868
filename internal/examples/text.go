package examples

const opening = `# Worked examples

Five texts that explain the memory of language models, and every figure in them, computed again. Each row says what
is claimed (in our words), what comes out here, and whether the two agree. The values are computed when this page is
written: models are counted over their tensors, devices come from the catalog, plans are asked of memwall itself, and
the sums run through the same book-keeping that prints the formulas. People learn from these texts, and a checked
mistake teaches more than a correct table.

How to read a verdict:

| verdict | means                                                                                           |
|---------|-------------------------------------------------------------------------------------------------|
| right   | our value rounds to the claim (a claim marked ~ may be 5 % off)                                 |
| unit    | the number is right in GiB and says GB, or the reverse                                          |
| stale   | it was right when written; then and now are both shown                                          |
| wrong   | more than 2 % off under the claim's own assumptions                                             |
| depends | an assumption that is not stated decides; two values show how much                              |
| later   | neither memory nor speed of a plan can tell: simulation will                                   |

GB is 10⁹ bytes and GiB 2³⁰, always. In formulas 1.5e9 is 1.5 × 10⁹, names come first and then the values in the same
order. A ` + "`memwall fit …` or `memwall train …`" + ` beside a value is the question that gives it; names of models, cards and formats are those of the
catalog. "Published" figures of quality are quoted with their source, not computed.
`

const closing = `
## What is not here

Claims without a number, inputs of examples (a batch of 32, 80 layers), years, names and numbering; a share of
interviews in which the subject is said to come up; and code that computes nothing by itself. A figure that a text
repeats is one row. ` + "`go test ./internal/examples -update`" + ` writes this page anew.
`
